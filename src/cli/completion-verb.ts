/** `completion bash|zsh|fish`. */
import type { Verb } from './verb.js'

export const completionVerb: Verb = {
  name: 'completion',
  summary: 'prints a script that completes nouns, verbs and flags: bash, zsh or fish',
  arguments: ['<shell>'],
  example: 'completion bash > /etc/bash_completion.d/cachefleet',
  run: async (invocation) => (await import('./completion.js')).printCompletion(invocation),
}
