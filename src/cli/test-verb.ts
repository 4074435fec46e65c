/** `cachefleet test`. */
import type { Verb } from './verb.js'

export const testVerb: Verb = {
  name: 'test',
  summary:
    'runs tests of VCL in a private cache of this machine, each backend replaced; needs no coordinator. Exit 0: passed, 1: failed, 2: nothing to run, or nothing to run it with',
  arguments: ['[path...]'],
  flags: [
    { form: '--vcl <file>', summary: 'the VCL for all tests; else each names its own (vcl: …)' },
    {
      form: '--group <name>',
      summary: 'the VCL group of a folder for `apply`, with its domains, instead',
    },
    { form: '--tap', summary: 'print TAP, a point for each step' },
    { form: '--junit <file>', summary: 'write JUnit XML there too' },
    { form: '--watch', summary: 'run again whenever a file has changed, until Ctrl-C' },
  ],
  example: 'test tests/ --vcl site.vcl',
  run: async (invocation) => (await import('./test/test-command.js')).testCommand(invocation),
}
