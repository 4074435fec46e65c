/** The start-up cost of the CLI. */
import { fileURLToPath } from 'node:url'
import type { TestEnd } from '../support/daemon.js'
import { measureBareStart, measureRun } from './bare-node.js'
import { formatMs, median, type Report } from './figure.js'

const rounds = 15
const goalMs = 120
export const client = fileURLToPath(new URL('../../dist/bin/cachefleet.js', import.meta.url))

export async function measureCommandLine(_: TestEnd, report: Report): Promise<void> {
  const calls: readonly (readonly [string, readonly string[]])[] = [
    ['--version', [client, '--version']],
    ['--help', [client, '--help']],
  ]
  for (const [name, words] of calls) {
    const pairs: { readonly ours: number; readonly bare: number }[] = []
    for (let round = 0; round < rounds; round++)
      pairs.push({ bare: await measureBareStart(), ours: await measureRun(words) })
    const ours = median(pairs.map((pair) => pair.ours))
    report({
      name: `cli: cachefleet ${name}`,
      measured: formatMs(ours),
      baseline: `node -e 0 ${formatMs(median(pairs.map(({ bare }) => bare)))}`,
      ratio: median(pairs.map(({ ours, bare }) => ours / bare)),
      goal: `<= ${goalMs} ms`,
      isMet: ours <= goalMs,
    })
  }
}
