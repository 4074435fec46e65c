/** The parameters protected with `-r` when a cache starts: for each release those it accepts, and all it needs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseParamShowText } from '../../protocol/text/param-show.js'
import { chooseProtectable, listProtectable } from '../../src/agent/apply/protectable.js'
import { judgeProtection } from '../../src/agent/apply/protection.js'
import { neverSettable } from '../../src/vcl/engine-command.js'
import { cacheProgram, readRelease } from '../support/cache-program.js'
import { root } from '../support/root.js'
import { startVarnishd } from '../support/varnishd.js'

const folder = join(root, 'test/fixtures/parameters')

/** The real program of each release accepted this list and then refused to set any of the parameters. */
const table: Readonly<Record<string, string>> = {
  '6.0.17': 'cc_command,vcc_allow_inline_c,vcc_unsafe_path,vcl_dir,vcl_path,vmod_dir,vmod_path',
  '6.5.1': 'cc_command,vcc_allow_inline_c,vcc_unsafe_path,vcl_path,vmod_path',
  '7.1.1': 'cc_command,cc_warnings,vcc_allow_inline_c,vcc_unsafe_path,vcl_path,vmod_path',
  '7.7.0':
    'cc_command,cc_warnings,vcc_allow_inline_c,vcc_feature,vcc_unsafe_path,vcl_path,vmod_path',
  '8.0.1': 'cc_command,cc_warnings,vcc_feature,vcl_path,vmod_path',
  '9.0.2': 'cc_command,cc_warnings,vcc_feature,vcl_path,vmod_path',
  'vinyl-9.0.1': 'cc_command,cc_warnings,vcc_feature,vcl_path,vmod_path',
}

void t.test('an alias is listed from 7.2 to 7.7 and omitted from 8.0 on', (t) => {
  for (const [release, expected] of Object.entries(table)) {
    const text = readFileSync(join(folder, `${release}.txt`), 'utf8')
    t.equal(chooseProtectable(text, text).join(), expected, release)
  }
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))
  t.equal(files.length, Object.keys(table).length)
  const unnamed = readFileSync(join(folder, '8.0.1.txt'), 'utf8')
  t.equal(chooseProtectable(unnamed, 'varnishd (trunk)').join(), table['8.0.1'])
  t.end()
})

void t.test('the installed cache is queried for its parameters', async (t) => {
  const protectable = (await listProtectable(cacheProgram.daemon)).join()
  t.equal(protectable, table[readRelease().name])
  const cache = await startVarnishd(t, { vcl: null, args: ['-r', protectable] })
  for (const name of neverSettable) {
    const isSet = cache.adm('param.set', name, 'off')
    await t.rejects(isSet, /is protected|Unknown parameter/, name)
  }
  t.same(await listProtectable('/bin/false'), [], 'without an answer no parameter is protected')
})

const feature = `vcc_feature
        Value is: none,+err_unref,+unsafe_path (default)

        Enable/Disable various VCC behaviors.
           unsafe_path         Allow '/' in vmod & include paths. Allow
                               'import ... from ...'.

        NB: This parameter is protected and cannot be changed.


`

void t.test('an unprotected alias of a protected parameter is detected', (t) => {
  const names = ['vcc_allow_inline_c', 'vcc_feature']
  const judge = (texts: readonly string[]) =>
    judgeProtection(
      new Map(
        texts
          .flatMap((text) => parseParamShowText(text))
          .map((param, at) => [names[at] ?? '', param]),
      ),
    )
  // Output of 7.7.0 and 8.0.1 started with `-r vcc_feature`.
  const alias = `vcc_allow_inline_c
        Value is: none,+err_unref,+unsafe_path
        Alias of: vcc_feature

        Deprecated alias for the vcc_feature parameter.


`
  t.same(judge([alias, feature]), { denied: names, open: ['vcc_allow_inline_c'] })
  t.same(judge([feature, feature]), { denied: ['vcc_feature'], open: [] })
  t.end()
})
