/** `cachefleet apilogs`. */
import { listVerb } from '../object-verbs.js'
import { apiLogEntry } from '../../resources/api-log-entry.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

const apiLog = toNounParts(apiLogEntry, {
  summary:
    'every call other than GET, and every failed login; asksOnly=false: calls that change something',
  example: 'apilogs list --filter asksOnly=false --sort id:desc --take 20',
})

export const apiLogs: Noun = {
  ...apiLog,
  verbs: [
    listVerb(apiLog, '--sort id:desc --take 20'),
    {
      name: 'tail',
      summary: 'prints the last entries, then every new one, until Ctrl-C',
      flags: [{ form: '--lines <count>', summary: 'how many of the past; 10 unless given' }],
      example: 'apilogs tail --lines 50',
      run: async (invocation) => (await import('../apilog-tail.js')).tailApiLogs(invocation),
    },
  ],
}
