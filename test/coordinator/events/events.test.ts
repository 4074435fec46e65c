/** Events on SQLite. */
import t from 'tap'
import { editEventsContract } from './edits.contract.js'
import { eventsContract } from './events.contract.js'
import { invalidationEventsContract } from './invalidations.contract.js'

eventsContract(t, () => Promise.resolve('sqlite::memory:'))
editEventsContract(t, () => Promise.resolve('sqlite::memory:'))
invalidationEventsContract(t, () => Promise.resolve('sqlite::memory:'))
