/** The VCL tests of a group (docs/behaviour.md, VCL groups). */
import t from 'tap'
import { startClient } from './client.js'

void t.test(
  'a group refers to its VCL tests: files of that type only, undeletable while in use',
  async (t) => {
    const client = await startClient(t)
    const make = (name: string, source: string, fileType: number) =>
      client.expect(201, 'POST', '/files', { name, source, fileType })
    const { id: main } = await make('main.vcl', 'vcl 4.1;\nbackend default none;\n', 1)
    const { id: test } = await make('a.test.yaml', 'steps: [{request: {url: /}}]', 4)
    const { id: other } = await make('b.test.yaml', 'steps: []', 3)
    const named = { name: 'site', mainVCL: { id: main } }
    const { id } = await client.expect(201, 'POST', '/vclgroups', {
      ...named,
      tests: [{ id: test }],
    })
    const at = `/vclgroups/${String(id)}`
    t.match(await client.expect(200, 'GET', at), { tests: [{ id: test, name: 'a.test.yaml' }] })
    t.match(await client.list('/vclgroups?tests.name=a.test.yaml'), [{ id }])
    t.same(await client.list('/vclgroups?tests.name=b.test.yaml'), [])
    t.match(await client.expect(400, 'PUT', at, { tests: [{ id: other }] }), {
      errorMsg: 'tests: "b.test.yaml" is not of fileType 4 (test of VCL)',
    })
    const many = Array.from({ length: 101 }, () => ({ id: test }))
    await client.expect(400, 'PUT', at, { tests: many })
    const path = `/files/${String(test)}`
    t.match(await client.expect(409, 'DELETE', path), { errorMsg: /site/ })
    t.match(await client.expect(200, 'PUT', at, { keepOnFailure: false }), {
      tests: [{ id: test }],
    })
    t.match(await client.expect(200, 'PUT', at, { tests: null }), { tests: [] })
    await client.expect(204, 'DELETE', path)
  },
)
