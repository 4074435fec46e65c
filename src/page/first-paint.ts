/** Runs before the first paint, so that the wrong theme never flashes up. */
const theme = localStorage.getItem('cachefleet.theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
