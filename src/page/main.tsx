/** Where the page starts: the session is taken up, then the login or the shell is drawn. */
import { render } from 'preact'
import { followSession } from './api/live.js'
import { Page } from './page.js'
import { hearTab, startSession } from './session/access.js'
import { hearTabs } from './session/tabs.js'
import { hearKeys } from './shell/keys.js'

hearTabs(hearTab)
hearKeys()
followSession()
void startSession() // never rejects
const place = document.getElementById('page')
if (place) render(<Page />, place)
