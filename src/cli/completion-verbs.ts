/** `completion bash|zsh|fish`, and the hidden verb that the scripts call. */
import type { Verb } from './verb.js'

export const completionVerbs: readonly Verb[] = [
  {
    name: 'completion',
    summary: 'prints a script that completes nouns, verbs, flags and names: bash, zsh or fish',
    arguments: ['<shell>'],
    example: 'completion bash > /etc/bash_completion.d/cachefleet',
    run: async (invocation) => (await import('./completion.js')).printCompletion(invocation),
  },
  {
    name: 'complete-names',
    summary: 'prints names of objects for the completion scripts',
    isHidden: true,
    arguments: ['<noun>'],
    example: 'complete-names vclgroups',
    run: async (invocation) => (await import('./completion.js')).printNames(invocation),
  },
]
