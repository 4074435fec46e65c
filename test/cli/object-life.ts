/** The life of one object in the CLI: created, read, changed, deleted. */
import type { Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import type { Json } from '../coordinator/controller/client.js'
import type { Fixture } from './fixture.js'

export interface Life {
  readonly noun: string
  readonly add: readonly string[]
  readonly name: string
  readonly change: readonly string[]
  readonly changed: Json
}

export async function live(t: Test, fixture: Fixture, life: Life): Promise<void> {
  const { noun, add, name, change, changed } = life
  const made = await fixture.json(noun, 'add', ...add)
  const id = String(made['id'])
  t.match(await fixture.json(noun, 'get', id), { id: made['id'] }, `${noun} by id`)
  t.match(await fixture.json(noun, 'get', name), { id: made['id'] }, `${noun} by name`)
  t.match(await fixture.list(noun, 'list', '--filter', `id=${id}`), [{ id: made['id'] }])
  for (const form of [[], ['--csv']]) {
    const shown = await fixture.cli([noun, 'get', id, ...form])
    t.match(shown, { code: 0, err: '' })
    t.ok(shown.out.includes(id), `${noun} get ${form.join('')}`)
  }
  t.match(await fixture.json(noun, 'update', name, ...change), changed, `${noun} update`)
  t.match(await fixture.cli([noun, 'update', id]), { code: 2, err: /Nothing to change/ })
  t.match(await fixture.cli([noun, 'delete', id]), { code: 2, err: /--yes/ })
  t.match(await fixture.json(noun, 'get', id), { id: made['id'] }, 'nothing was deleted')
  t.match(await fixture.cli([noun, 'delete', id, '--yes']), { code: 0, out: '', err: '' })
  const gone = await fixture.cli([noun, 'get', id])
  t.match(gone, { code: exitCodes.refused, out: '' })
  t.match(gone.err, /^cachefleet: \d+ was not found \(trace \w{8,}\)\n$/)
}
