package push

// For tests.
var PackageFiles = packageFiles
