/**
 * Starts a program if this Node can run it. This file imports nothing and uses only syntax that every Node with modules parses,
 * so that an old Node prints a clear message instead of a syntax error.
 */

/** The same version as `engines` in package.json. */
const needed = [20, 19] as const
/** The exit code of bad configuration: a restart does not help. */
const wrongNode = 78
/** Node's exit code for an unsettled top-level await; Node 12 cannot parse one. */
const unsettled = 13

/** `name`: the name of the program and of its file beside this one. */
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

/** `node`: the version in process.versions. Null: new enough. */
export function findNodeProblem(node: string): string | null {
  const [major, minor] = node.split('.').map(Number)
  const isEnough = Number(major) > needed[0] || (major === needed[0] && Number(minor) >= needed[1])
  return isEnough ? null : `Node ${node} is too old: ${needed.join('.')} or newer is needed`
}
