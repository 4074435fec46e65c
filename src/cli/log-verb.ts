/** `cachefleet log`, as the grammar knows it. */
import type { Verb } from './verb.js'

export const logVerb: Verb = {
  name: 'log',
  summary: 'requests of many caches, as they are answered',
  flags: [
    { form: '--agents <agents>', summary: 'only of these caches, by id or name' },
    { form: '--tags <tags>', summary: 'only of caches that have all of these, by id or name' },
    { form: '--group <group>', summary: 'only requests of this VCL group, by id or name' },
    { form: '--domain <domain>', summary: 'only requests of this domain, by id or name' },
    { form: '-q, --query <query>', summary: "as the cache's tools take it, see vsl-query(7)" },
    { form: '--sample <n>', summary: 'one of 1, 10, 100 or 1000 requests' },
    {
      form: '--limit <lines>',
      summary: 'end after so many lines; with --follow: so many a second of each cache',
    },
    { form: '--follow', summary: 'go on until Ctrl-C; without it for 10 s' },
  ],
  example: "log --group shop -q 'RespStatus >= 500' --follow",
  run: async (invocation) => (await import('./log.js')).printLog(invocation),
}
