/** Files of a folder in the CLI: uploaded, compared, downloaded, deleted. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import type { Json } from '../coordinator/controller/client.js'
import { startFixture } from './fixture.js'
import { run } from './run-cli.js'

const main = 'vcl 4.1;\nbackend default none;\n'

void t.test('files', async (t) => {
  const fixture = await startFixture(t)
  const folder = join(fixture.folder, 'site')
  await mkdir(folder)
  const put = (name: string, text: string | Buffer) => writeFile(join(folder, name), text)
  await put('main.vcl', `${main}include "a.vcl";\n`)
  await put('a.vcl', 'sub a_one { }\n')
  await put('b.vcl', '# b\n')
  await put('notes.txt', 'no VCL')
  const upload = (...words: string[]) => fixture.list('files', 'upload', folder, ...words)
  const actions = (rows: readonly Json[]) =>
    rows.map(({ name, action, version }) => `${String(name)} ${String(action)} ${String(version)}`)

  await t.test('come from a path or standard input, as base64 unless they are text', async (t) => {
    const path = join(folder, 'main.vcl')
    const ran = await run(['files', 'add', path, '--json', '--name', 'x.vcl'], fixture)
    t.match(JSON.parse(ran.out), {
      name: 'x.vcl',
      encoded: false,
      source: /^vcl 4.1/,
      fileType: 1,
    })
    const input = 'sub piped { }\n'
    const piped = await fixture.cli(['files', 'add', '-', '--name', 'piped.vcl', '--json'], {
      input,
    })
    t.match(JSON.parse(piped.out), { source: input, fileType: 2 })
    const bytes = Buffer.from([0, 255, 1])
    await writeFile(join(fixture.folder, 'logo.png'), bytes)
    t.match(await fixture.json('files', 'add', join(fixture.folder, 'logo.png')), {
      name: 'logo.png',
      encoded: true,
      source: bytes.toString('base64'),
    })
    t.match(await fixture.cli(['files', 'add', '-'], { input }), { code: 2, err: /--name/ })
    t.match(await fixture.cli(['files', 'add', '/no/such/file']), {
      code: 2,
      err: /no such file/,
    })
    const twice = await fixture.cli(['files', 'add', 'x.vcl', '--source', main])
    t.match(twice, { code: 2, err: /given twice/ })
    t.match(await fixture.cli(['files', 'get', 'piped.vcl']), {
      out: /\nsource:\nsub piped|sub piped/,
    })
    t.match(await fixture.cli(['files', 'delete', 'x.vcl', 'piped.vcl', 'logo.png', '--yes']), {
      code: 0,
    })
  })

  await t.test('of a folder are uploaded once, then only those that changed', async (t) => {
    t.strictSame(actions(await upload()), [
      'a.vcl created 1',
      'b.vcl created 1',
      'main.vcl created 1',
    ])
    t.match(await fixture.cli(['files', 'diff', folder]), { code: 0, out: '' })
    await put('a.vcl', 'sub a_one { }\n# changed\n')
    const diff = await fixture.cli(['files', 'diff', folder])
    t.equal(diff.code, 1)
    t.match(
      diff.out,
      /^--- coordinator\/a\.vcl\n\+\+\+ folder\/a\.vcl\n@@ .*\n sub a_one \{ \}\n\+# changed\n$/,
    )
    t.match(await upload(), [{ action: 'updated', version: 2 }, { action: 'unchanged' }, {}])
    t.match(await fixture.list('files', 'versions', 'a.vcl'), [{ version: 1 }, { version: 2 }])
    const between = await fixture.cli(['files', 'diff', 'a.vcl', '--from', '1', '--to', '2'])
    t.match(between, { code: 0, out: /^\+# changed/m })
  })

  await t.test('are downloaded as stored, in every version', async (t) => {
    t.match(await fixture.cli(['files', 'get', 'a.vcl', '--content']), {
      code: 0,
      out: 'sub a_one { }\n# changed\n',
      err: '',
    })
    t.match(await fixture.cli(['files', 'versions', 'a.vcl', '1', '--content']), {
      code: 0,
      out: 'sub a_one { }\n',
    })
    t.match(await fixture.json('files', 'versions', 'a.vcl', '1'), { version: 1 })
    t.match(await fixture.cli(['files', 'versions', 'a.vcl', '9']), { code: 1, err: /not found/ })
    t.match(await fixture.cli(['files', 'versions', 'a.vcl', 'x']), {
      code: 2,
      err: /not a version/,
    })
    t.match(await fixture.cli(['files', 'versions', 'a.vcl', '--content']), { code: 2 })
    t.match(await fixture.cli(['files', 'diff', 'a.vcl', '--from', 'x', '--to', '2']), {
      code: 2,
      err: /"x" is not a version/,
    })
  })

  await t.test('missing in the folder are deleted only with --delete, if unused', async (t) => {
    await fixture.json('vclgroups', 'add', '--name', 'site', '--main-vcl', 'main.vcl')
    await rm(join(folder, 'b.vcl'))
    await rm(join(folder, 'main.vcl'))
    t.strictSame(actions(await upload()), ['a.vcl unchanged 2'])
    t.equal((await fixture.list('files', 'list')).length, 3)
    t.strictSame(actions(await upload('--delete')), [
      'a.vcl unchanged 2',
      'b.vcl deleted 1',
      'main.vcl in use 1',
    ])
    t.equal((await fixture.list('files', 'list')).length, 2)
    const empty = join(fixture.folder, 'empty')
    await mkdir(empty)
    const refused = await fixture.cli(['files', 'upload', empty, '--delete'])
    t.match(refused, { code: exitCodes.usage, err: /has no \*\.vcl/ })
    t.equal((await fixture.list('files', 'list')).length, 2, 'nothing was deleted')
  })
})
