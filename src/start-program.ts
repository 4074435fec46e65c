/**
 * Starts a program where this Node can run it. It imports nothing and is written in what every Node with modules reads, so
 * that an older one is told what is wrong before it stumbles over what it does not know.
 */

/** As `engines` in package.json. */
const needed = [20, 19] as const
/** As settings that cannot work: starting it again does not help. */
const wrongNode = 78
/** As Node itself ends a module that waits for what never comes; Node 12 cannot read a file that awaits. */
const unsettled = 13

/** `name`: of the program, and of its file beside this one. */
export function startProgram(name: string): void {
  const problem = findNodeProblem(process.versions.node)
  if (problem !== null) {
    process.stderr.write(`${name}: ${problem}\n`)
    process.exitCode = wrongNode
    return
  }
  process.exitCode = unsettled
  void load(name).then(() => {
    if (process.exitCode === unsettled) process.exitCode = 0
  })
}

async function load(name: string): Promise<void> {
  const { loadProgram } = await import('./load-program.js')
  await loadProgram(new URL(`./${name}.cjs`, import.meta.url)).run()
}

/** `node`: as in process.versions. Null: it is new enough. */
export function findNodeProblem(node: string): string | null {
  const [major, minor] = node.split('.').map(Number)
  const isEnough = Number(major) > needed[0] || (major === needed[0] && Number(minor) >= needed[1])
  return isEnough ? null : `Node ${node} is too old: ${needed.join('.')} or newer is needed`
}
