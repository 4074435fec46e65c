/** `cachefleet upgrade-check`. */
import type { Verb } from './verb.js'

export const upgradeVerb: Verb = {
  name: 'upgrade-check',
  summary:
    'compiles every deployed group on another release of the cache, and finds parameters in use that it lacks; changes nothing, ends with 1 when something would fail',
  flags: [
    { form: '--to <release>', summary: 'such as vinyl-9.0, 9 or 8.0' },
    {
      form: '--program <path>',
      summary:
        'varnishd or vinyld of that release on this machine; else a Running agent of it is asked',
    },
  ],
  example: 'upgrade-check --to vinyl-9.0 --program /usr/sbin/vinyld',
  run: async (invocation) => (await import('./upgrade/check-upgrade.js')).checkUpgrade(invocation),
}
