/** Entry point of the page: resumes the session, then renders the login or the shell. */
import { render } from 'preact'
import { followSession } from './api/live.js'
import { Page } from './page.js'
import { adoptTabSession, startSession } from './session/access.js'
import { subscribeToTabs } from './session/tabs.js'
import { listenToKeys } from './shell/keys.js'

subscribeToTabs(adoptTabSession)
listenToKeys()
followSession()
void startSession() // never rejects
const place = document.getElementById('page')
if (place) render(<Page />, place)
