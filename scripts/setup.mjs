/**
 * Asks whether this Node is new enough, then makes the checkout ready (`prepare.mjs`). It imports nothing before and is written
 * in what every Node with modules reads. `src/start-program.ts` asks the same for the programs, once they are built.
 */
const { node } = process.versions
const [major, minor] = node.split('.').map(Number)
if (major > 20 || (major === 20 && minor >= 19)) import('./prepare.mjs')
else {
  process.stderr.write(`cachefleet setup: Node ${node} is too old: 20.19 or newer is needed\n`)
  process.exitCode = 78
}
