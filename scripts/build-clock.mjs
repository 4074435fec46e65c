/**
 * Builds the library that moves the clock of a test's private cache (`src/vcl-tests/clock-offset.c`), for each architecture that has a C
 * compiler here. Without one, tests that advance time say so.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

/** As Node calls them: the compilers for each by Debian's names. */
const compilers = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' }

export function buildClock(root, target) {
  for (const [arch, compiler] of Object.entries(compilers))
    for (const program of arch === process.arch ? [compiler, 'cc'] : [compiler])
      if (compile(program, join(root, 'src/vcl-tests/clock-offset.c'), join(target, nameOf(arch))))
        break
}

function nameOf(arch) {
  return `clock-offset-${arch}.so`
}

/** False where there is no such compiler, or it has no headers. */
function compile(program, source, file) {
  const words = ['-O2', '-shared', '-fPIC', '-Wl,--build-id=none', '-o', file, source]
  if (spawnSync(program, words, { stdio: 'ignore' }).status !== 0) return false
  // Loaded, not run.
  chmodSync(file, 0o644)
  return true
}
