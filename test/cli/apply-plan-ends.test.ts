/** How `apply --plan` ends. */
import t from 'tap'
import { startFixture } from './apply-fixture.js'

const main = 'vcl 4.1;\nbackend default none;\n'

void t.test('a plan with a group that no cache can load ends with 1', async (t) => {
  const { apply, list } = await startFixture(t)
  const group = 'kind: vclgroup\nname: site\nmainVCL: main.vcl\ndeployments: [web]\ndeployed: true'
  const files = {
    'a.yaml': `kind: tag\nname: eu\n---\nkind: files\nfolder: vcl\n---\nkind: deployment\nname: web\ntags: [eu]\n---\n${group}\n`,
    'vcl/main.vcl': main,
  }
  t.match(await apply(files, '--plan'), {
    code: 1,
    out: /^ {4}! /m,
    err: /vclgroup "site" cannot be deployed: \w/,
  })
  t.same(await list('/vclgroups'), [], 'nothing was changed')
})
