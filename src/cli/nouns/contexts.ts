/** `cachefleet contexts`: the logins of this user on this machine. */
import { yesFlag } from '../confirm.js'
import type { LocalNoun } from '../verb.js'

export const contexts: LocalNoun = {
  name: 'contexts',
  aliases: ['context'],
  summary: 'your logins on this machine, one for each --context, and which is in use',
  example: 'contexts use production',
  verbs: [
    {
      name: 'list',
      summary: 'lists your logins',
      example: 'contexts list',
      run: async (invocation) => (await import('../contexts.js')).listContexts(invocation),
    },
    {
      name: 'use',
      summary: 'selects the one that is used without --context',
      arguments: ['<name>'],
      example: 'contexts use production',
      run: async (invocation) => (await import('../contexts.js')).takeContext(invocation),
    },
    {
      name: 'delete',
      summary: 'deletes a login on this machine only; logout ends it at the coordinator too',
      arguments: ['<name...>'],
      flags: [yesFlag],
      example: 'contexts delete staging --yes',
      run: async (invocation) => (await import('../contexts.js')).forgetContexts(invocation),
    },
  ],
}
