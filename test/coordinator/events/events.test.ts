/** Events on SQLite. */
import t from 'tap'
import { eventsContract } from './events.contract.js'

eventsContract(t, () => Promise.resolve('sqlite::memory:'))
