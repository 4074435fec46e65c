/** The API of files and their versions (docs/behaviour.md, Files). */
import { createHash } from 'node:crypto'
import t from 'tap'
import { startClient } from './client.js'

const vcl = 'vcl 4.1;\nbackend default none;\n'
const digest = (content: string | Buffer): string =>
  `"${createHash('sha256').update(content).digest('hex')}"`

void t.test('a file has fields derived from its content; lists omit the source', async (t) => {
  const client = await startClient(t)
  const made = await client.expect(201, 'POST', '/files', { name: 'main.vcl', source: vcl })
  t.match(made, {
    name: 'main.vcl',
    source: vcl,
    contentType: 'text/plain; charset=utf-8',
    encoded: false,
    fileType: 1,
    sha: digest(vcl),
    version: 1,
  })
  const [listed] = await client.list(`/files?sha=${encodeURIComponent(digest(vcl))}`)
  t.same({ ...listed, source: vcl }, made)
  t.notOk('source' in (listed ?? {}))

  for (const [name, source, fileType] of [
    ['part', '# a part\nsub nothing { }\n', 2],
    ['comment', '# vcl 4.1; in a comment\n', 2],
    ['old', '# note\n  vcl 4.0;\n', 1],
    ['empty', '', 2],
  ] as const)
    t.match(await client.expect(201, 'POST', '/files', { name, source }), { fileType })
  for (const fileType of [0, 5, -1, 'x', 1.5])
    await client.expect(400, 'POST', '/files', { name: 'typed', source: vcl, fileType })
})

void t.test(
  'new content creates the next version; equal content and a rename create none',
  async (t) => {
    const client = await startClient(t)
    const { id } = await client.expect(201, 'POST', '/files', { name: 'a.vcl', source: vcl })
    const at = `/files/${String(id)}`
    const two = `${vcl}# two\n`

    t.match(await client.expect(200, 'PUT', at, { source: two }), { version: 2, sha: digest(two) })
    t.match(await client.expect(200, 'PUT', at, { source: two }), { version: 2 })
    t.match(await client.expect(200, 'PUT', at, { name: 'b.vcl' }), { version: 2, name: 'b.vcl' })

    const versions = await client.list(`${at}/versions`)
    t.match(versions, [
      { version: 1, sha: digest(vcl), account: 'root' },
      { version: 2, sha: digest(two) },
    ])
    t.notOk('source' in (versions[0] ?? {}))
    t.equal((await client.list(`${at}/versions?sort=version:desc&take=1`))[0]?.['version'], 2)
    t.match(await client.expect(200, 'GET', `${at}/versions/1`), { version: 1, source: vcl })
    for (const n of ['3', '0', '-1', 'x', '1.0', '99999999999'])
      t.match(await client.expect(404, 'GET', `${at}/versions/${n}`), {
        errorKey: 'file',
        errorMsg: /was not found/,
      })
    await client.expect(405, 'PUT', `${at}/versions/1`, { source: 'x' })
  },
)

void t.test('concurrent writers create one version each', async (t) => {
  const client = await startClient(t)
  const { id } = await client.expect(201, 'POST', '/files', { name: 'a.vcl', source: vcl })
  const at = `/files/${String(id)}`

  await Promise.all(
    Array.from({ length: 8 }, (_, n) => client.expect(200, 'PUT', at, { source: `# ${n}\n` })),
  )

  const versions = await client.list(`${at}/versions`)
  t.same(
    versions.map((row) => row['version']),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
})

void t.test('a diff is a unified diff', async (t) => {
  const client = await startClient(t)
  const source = 'one\ntwo\nthree\n'
  const { id } = await client.expect(201, 'POST', '/files', { name: 'list', source })
  const at = `/files/${String(id)}`
  await client.expect(200, 'PUT', at, { source: 'one\n2\nthree\n' })

  t.same(await client.expect(200, 'GET', `${at}/diff?from=1&to=2`), {
    from: 1,
    to: 2,
    diff: '--- list version 1\n+++ list version 2\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
  })
  t.match(await client.expect(200, 'GET', `${at}/diff?from=2&to=2`), { diff: '' })
  await client.expect(404, 'GET', `${at}/diff?from=1&to=9`)
  for (const query of ['from=x&to=1', 'from=0&to=1', 'to=1&from=', 'to=1', ''])
    await client.expect(400, 'GET', `${at}/diff?${query}`)
})

void t.test('a base64 file can hold any bytes', async (t) => {
  const client = await startClient(t)
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
  const source = bytes.toString('base64')
  const made = await client.expect(201, 'POST', '/files', { name: 'bin', source, encoded: true })
  t.match(made, {
    source,
    encoded: true,
    fileType: 3,
    sha: digest(bytes),
    contentType: 'application/octet-stream',
  })
  for (const wrong of ['!!!', 'abc', 'YW Jj', 'YWJj===', 'YWJj\n']) {
    const body = { name: 'wrong', source: wrong, encoded: true }
    t.match(await client.expect(400, 'POST', '/files', body), { errorMsg: /source/ })
  }

  const at = `/files/${String(made['id'])}`
  t.match(await client.expect(400, 'PUT', at, { encoded: false }), { errorMsg: /encoded/ })
  t.match(await client.expect(200, 'PUT', at, { encoded: false, source: vcl, fileType: null }), {
    version: 2,
    encoded: false,
    fileType: 1,
    contentType: 'text/plain; charset=utf-8',
  })
  await client.expect(409, 'GET', `${at}/diff?from=1&to=2`)
})

void t.test('/vcls is a shorthand for main files and ignores a given id', async (t) => {
  const client = await startClient(t)
  const made = await client.expect(201, 'POST', '/vcls', {
    id: 424242,
    name: 'short.vcl',
    source: 'sub nothing { }\n',
  })
  t.not(made['id'], 424242)
  t.match(made, { fileType: 1, version: 1 })
  await client.expect(201, 'POST', '/files', { name: 'other', source: 'x', fileType: 3 })

  t.same(
    (await client.list('/vcls')).map((file) => file['name']),
    ['short.vcl'],
  )
  t.equal((await client.list('/files')).length, 2)
  await client.expect(404, 'GET', `/vcls/${String(made['id'])}`)
})

void t.test('a media type must be valid; null resets it to the default', async (t) => {
  const client = await startClient(t)
  const { id } = await client.expect(201, 'POST', '/files', {
    name: 'acl',
    source: 'x',
    contentType: 'text/csv; charset=utf-8',
  })
  const at = `/files/${String(id)}`
  t.match(await client.expect(200, 'GET', at), { contentType: 'text/csv; charset=utf-8' })
  for (const contentType of ['x', 'a/b\r\nX: y', '', 5])
    t.match(await client.expect(400, 'PUT', at, { contentType }), { errorMsg: /contentType/ })
  t.match(await client.expect(200, 'PUT', at, { contentType: null }), {
    contentType: 'text/plain; charset=utf-8',
    version: 1,
  })
})

void t.test('a test of VCL is checked on write; errors name file and line', async (t) => {
  const client = await startClient(t)
  const right = 'steps:\n  - request: {url: /}\n    expect: {status: 200}\n'
  const wrong = 'steps:\n  - request: {url: /}\n    expect: {stat: 200}\n  - advance: x\n'
  const long = `# ${'long '.repeat(2_000)}\n`
  for (const [source, line] of [
    [wrong, 3],
    [`${long}${wrong}`, 4],
    ['', 1],
  ] as const) {
    const body = { name: 'site.test.yaml', source, fileType: 4 }
    const { errorMsg } = await client.expect(400, 'POST', '/files', body)
    t.match(errorMsg, `site.test.yaml line ${line}: `)
  }
  const type = { name: 'site.test.yaml', source: right }
  t.match(await client.expect(201, 'POST', '/files', type), { fileType: 2 }, 'it is never guessed')
  const made = { name: 'news.test.yaml', source: `${long}${right}`, fileType: 4 }
  const { id } = await client.expect(201, 'POST', '/files', made)
  const at = `/files/${String(id)}`
  t.match(await client.expect(400, 'PUT', at, { source: wrong }), {
    errorMsg:
      /^news\.test\.yaml line 3: expect: "stat" is not known here.*\nnews\.test\.yaml line 4: /,
  })
  t.match(await client.expect(200, 'PUT', at, { source: wrong, fileType: 3 }), { version: 2 })
  await client.expect(400, 'PUT', at, { fileType: 4 })
  t.notOk((await client.list('/vcls')).some((file) => file['id'] === id))
})
