/** Runs before anything is drawn: a page of the other theme never flashes up. */
const theme = localStorage.getItem('cachefleet.theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
