/** Events on SQLite. */
import t from 'tap'
import { eventsContract } from './events.contract.js'
import { invalidationEventsContract } from './invalidations.contract.js'

eventsContract(t, () => Promise.resolve('sqlite::memory:'))
invalidationEventsContract(t, () => Promise.resolve('sqlite::memory:'))
