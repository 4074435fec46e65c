/** A group whose tests no agent can run, in the CLI. */
import type { Test } from 'tap'
import type { AgentView } from '../support/api-client.js'
import type { Ran } from './run-cli.js'

export async function checkUntested(
  t: Test,
  {
    cli,
    makeGroup,
    simulated,
  }: {
    readonly cli: (...words: string[]) => Promise<Ran>
    readonly simulated: readonly AgentView[]
    readonly makeGroup: (name: string, agents: readonly AgentView[]) => Promise<number>
  },
): Promise<void> {
  const group = 'tested'
  await makeGroup(group, simulated.slice(-1))
  const test = ['--name', `${group}.test.yaml`, '--file-type', '4']
  const text = 'steps: [{request: {url: /}}]\n'
  t.match(await cli('files', 'add', ...test, '--source', text), { code: 0 })
  t.match(await cli('vg', 'update', group, '--tests', `${group}.test.yaml`), { code: 0 })
  const told = /^warning: the tests of \w+ were not run: no Running agent [^\n]*\n$/
  for (const verb of ['validate', 'deploy'])
    t.match(await cli('vg', verb, group), { code: 0, err: told }, verb)
  t.match(await cli('vg', 'deploy', group, '--tests', 'skip'), { code: 0, err: '' })
  t.match(await cli('vg', 'deploy', group, '--tests', 'no'), { code: 2, err: /takes skip/ })
  t.match(await cli('vg', 'update', group, '--require-tests'), { code: 0 })
  t.match(await cli('vg', 'deploy', group), { code: 1, err: /were not run: no Running agent/ })
  t.match(await cli('vg', 'undeploy', group, '--yes'), { code: 0 })
}
