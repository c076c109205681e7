(() => {
  const problems = [];
  const say = (e, text) => problems.push(text + ': ' + e.outerHTML.slice(0, 120));
  const visible = e => e.checkVisibility({visibilityProperty: true});
  const nameOf = e => (e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean)
    .map(id => (document.getElementById(id) || {}).textContent || '').join(' ') || (e.labels && [...e.labels].map(l => l.textContent).join(' ')) ||
    e.textContent || '').trim();
  if (!document.documentElement.lang) problems.push('the document has no language');
  if (!document.title.trim()) problems.push('the document has no title');
  for (const tag of ['header', 'nav', 'main']) if (!document.querySelector(tag)) problems.push('no landmark ' + tag);
  if (document.querySelectorAll('main').length !== 1) problems.push('not one main');
  if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
  let level = 0;
  for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
    const n = Number(h.tagName[1]);
    if (n > level + 1) say(h, 'a level of headings is left out');
    level = n;
  }
  const ids = new Set();
  for (const e of document.querySelectorAll('[id]')) {
    if (ids.has(e.id)) say(e, 'an id is used twice');
    ids.add(e.id);
  }
  for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby], label[for]'))
    for (const a of ['aria-labelledby', 'aria-describedby', 'for'])
      for (const id of (e.getAttribute(a) || '').split(' ').filter(Boolean)) if (!ids.has(id)) say(e, 'no element has the id of ' + a);
  for (const e of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, [role=region], section[aria-labelledby]'))
    if (visible(e) && !nameOf(e) && e.type !== 'submit') say(e, 'has no name');
  for (const e of document.querySelectorAll('svg')) if (e.getAttribute('aria-hidden') !== 'true' && !nameOf(e)) say(e, 'a picture has no text');
  for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) say(e, 'a picture has no text');
  for (const e of document.querySelectorAll('table')) if (e.querySelectorAll('th[scope]').length === 0) say(e, 'a table has no headers');
  for (const e of document.querySelectorAll('[style], [onclick], [onload], [onerror]')) say(e, 'an attribute that the policy forbids');
  for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) say(e, 'changes the order of the keyboard');
  for (const e of document.querySelectorAll('*')) {
    const overflow = getComputedStyle(e).overflowX;
    if ((overflow === 'auto' || overflow === 'scroll') && e.scrollWidth > e.clientWidth + 1 && visible(e) && e.tabIndex < 0 &&
        !e.querySelector('a, button, input') && e.tagName !== 'TEXTAREA') say(e, 'cannot be scrolled with the keyboard');
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)
    problems.push('the page is wider than the screen: ' + document.documentElement.scrollWidth + ' > ' + document.documentElement.clientWidth);

  // Contrast, by the formula of WCAG 2: 4.5 for text, 3 for large text.
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const backOf = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || seen.has(e) || !visible(e) || e.closest('[disabled]')) continue;
    seen.add(e);
    const style = getComputedStyle(e);
    const [a, b] = [luminance(parse(style.color)), luminance(backOf(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) say(e, 'contrast ' + ratio.toFixed(2));
  }
  return problems;
})()
