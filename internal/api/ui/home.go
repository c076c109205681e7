package ui

// homePage is the first page.
func (d *Door) homePage() *page {
	return &page{pattern: "/", about: "try it", menu: "Try it", show: func(*visit) (view, error) {
		return view{title: "Try it", data: map[string]string{}, body: homeView()}, nil
	}}
}

// tryPage has the actions of the first page, as other requests to / are those of protocols.
func (d *Door) tryPage() *page {
	return &page{pattern: "/ui/try", about: "try it", show: d.homePage().show}
}
