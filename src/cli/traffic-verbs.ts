/** The grammar of `cachefleet log` and `cachefleet top`. */
import type { Flag, Verb } from './verb.js'

const selectors: readonly Flag[] = [
  { form: '--agents <agents>', summary: 'only of these caches, by id or name' },
  { form: '--tags <tags>', summary: 'only of caches that have all of these, by id or name' },
  { form: '--group <group>', summary: 'only requests of this VCL group, by id or name' },
  { form: '--domain <domain>', summary: 'only requests of this domain, by id or name' },
  { form: '-q, --query <query>', summary: "VSL query, as of the cache's tools: vsl-query(7)" },
  { form: '--sample <n>', summary: 'one of 1, 10, 100 or 1000 requests' },
]

export const trafficVerbs: readonly Verb[] = [
  {
    name: 'log',
    summary: 'requests of many caches, as they are answered',
    flags: [
      ...selectors,
      {
        form: '--limit <lines>',
        summary: 'end after so many lines; with --follow: so many a second of each cache',
      },
      { form: '--detail', summary: 'also the records of each, as its cache logged them' },
      { form: '--follow', summary: 'continue until Ctrl-C; without it for 10 s' },
    ],
    example: "log --group shop -q 'RespStatus >= 500' --follow",
    run: async (invocation) => (await import('./log.js')).printLog(invocation),
  },
  {
    name: 'top',
    summary: 'what is most frequent in the traffic of many caches',
    flags: [
      {
        form: '--by <what>',
        summary: 'url (unless given), host, status, backend, missUrl, slowUrl or bytes',
      },
      ...selectors,
      { form: '--seconds <n>', summary: 'how long to count; 5 unless given' },
      { form: '-n, --rows <n>', summary: 'how many rows; 20 unless given' },
      { form: '--watch', summary: 'repeat until Ctrl-C' },
    ],
    example: 'top --by missUrl --group shop --seconds 30',
    run: async (invocation) => (await import('./top.js')).showTop(invocation),
  },
]
