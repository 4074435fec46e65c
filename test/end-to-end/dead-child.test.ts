/** Loading a VCL kills the child of a real cache: the deploy reports it with the panic, and the old VCL is served again. */
import t from 'tap'
import { answering } from '../support/observe-cache.js'
import { parallel } from '../support/parallel.js'
import {
  deploySite,
  makeSite,
  readRefusal,
  startHarness,
  untilAgent,
  untilServing,
} from './harness.js'

void t.test('a child that dies during a load is reported as such', parallel(), async (t) => {
  const harness = await startHarness(t, { cacheWords: ['-p', 'vcc_allow_inline_c=on'] })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const deadly = 'C{\n#include <stdlib.h>\n}C\nsub vcl_init { C{ abort(); }C }\n'
  await harness.api.editFile(site.file, `${answering('deadly')}\n${deadly}`)
  const refusal = readRefusal(await harness.api.act(site.id, 'deploy'), 422)
  t.match(refusal, /^the cache's child died while it loaded this VCL: Panic at: .*\n.*Signal 6/s)
  t.match(refusal, /\(Varnish [0-9.]+: agent edge\)$/)
  await untilServing(harness.cache, 'site-first')
  await untilAgent(harness, 'Running')
})
