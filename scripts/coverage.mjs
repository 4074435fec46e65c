/**
 * Which lines of the pure parts (`protocol` without its simulator, `src/vcl`) their own unit tests run. Prints a table, with the
 * lines that none has run. `c8` is what tap brings along. It reads what `npm run check:types` made.
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const measured = ['protocol/*.ts', 'protocol/commands/*.ts', 'src/vcl/*.ts']
/** Words in the paths of the tests. */
const tests = [
  ...['test/protocol/', 'test/vcl/', 'test/messages/', 'test/resources/', 'test/json-excess'],
  ...['test/agent/compile-limits', 'test/agent/decisions', 'test/agent/protectable'],
  'test/agent/plan-certificates',
  ...['placement/replacing-decision', 'placement/several-groups'],
]

const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'c8'),
  [
    ...['--clean', '--temp-directory', 'dist/coverage', '--reporter', 'text'],
    ...['--exclude-after-remap', ...measured.flatMap((files) => ['--include', files])],
    ...[process.execPath, 'scripts/run-tests.mjs', '--apart', ...tests],
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
