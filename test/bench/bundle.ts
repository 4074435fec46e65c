/** Flattening the largest accepted VCL, which blocks the coordinator meanwhile. In CPU time, so that other processes do not count. */
import { createHash } from 'node:crypto'
import type * as BundleModule from '../../src/vcl/bundle.js'
import type * as LimitsModule from '../../src/vcl/limits.js'
import type { TestEnd } from '../support/daemon.js'
import { loadBuilt } from './built.js'
import { formatMegabytes, formatMs, median, type Report } from './figure.js'
import { runTimed } from './process-reading.js'

const rounds = 9
const includeCount = 900
/** For the system administrator, and for an organization. */
const owners = [
  { owner: '', modules: null },
  { owner: ', judged', modules: new Set(['std']) },
]

export async function measureBundle(_: TestEnd, report: Report): Promise<void> {
  const { bundleVcl } = await loadBuilt<typeof BundleModule>('src/vcl/bundle.js')
  const { flattenedLimitBytes } = await loadBuilt<typeof LimitsModule>('src/vcl/limits.js')
  const partBytes = Math.floor(flattenedLimitBytes / includeCount) - 64
  const whole = `vcl 4.1;\nbackend default none;\n${writeSubs(flattenedLimitBytes - 1024, 'one')}`
  const part = writeSubs(partBytes, 'part')
  const included = Array.from({ length: includeCount }, (_, at) => `part-${at}.vcl`)
  const main = `vcl 4.1;\nbackend default none;\n${included.map((name) => `include "${name}";\n`).join('')}`
  const cases = [
    { name: 'one file', main: whole, includes: new Map<string, BundleModule.VclText>() },
    {
      name: `${includeCount} includes`,
      main,
      includes: new Map(included.map((name) => [name, { name, text: part }])),
    },
  ]
  const measured = cases.flatMap((one) => owners.map((owner) => ({ ...one, ...owner })))
  for (const { name, main, includes, owner, modules } of measured) {
    const options = { allowedExternal: new Set<string>(), modules }
    const tookMs: number[] = []
    const bareMs: number[] = []
    let bytes = 0
    for (let round = 0; round < rounds; round++) {
      const order = { name: 'main.vcl', text: main }
      const [bundle, cpuMs] = runTimed(() => bundleVcl(order, includes, options))
      tookMs.push(cpuMs)
      if (!bundle.ok) throw new Error(bundle.errors.join('\n'))
      bytes = Buffer.byteLength(bundle.text)
      bareMs.push(
        runTimed(() => {
          readOnce(bundle.text)
        })[1],
      )
    }
    report({
      name: `bundle: ${formatMegabytes(bytes)} of VCL, ${name}${owner}`,
      measured: formatMs(median(tookMs)),
      baseline: `each character once, and SHA-256 ${formatMs(median(bareMs))}`,
      ratio: median(tookMs) / median(bareMs),
      goal: null,
    })
  }
}

function readOnce(text: string): void {
  let lines = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 0x0a) lines++
  createHash('sha256').update(text).update(String(lines)).digest()
}

function writeSubs(bytes: number, name: string): string {
  const subs: string[] = []
  for (let length = 0, at = 0; ; at++) {
    const sub = [
      `sub ${name}_${at} {`,
      '  # The shop has moved.',
      `  if (req.url ~ "^/path/${at}" && req.http.host == "site-${at}.example") {`,
      '    set req.http.X-Moved = req.http.host + "/moved";',
      '    return (pass);',
      '  }',
      '}',
      '',
    ].join('\n')
    length += sub.length
    if (length > bytes) return subs.join('')
    subs.push(sub)
  }
}
