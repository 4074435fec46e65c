/** Decides which tests run against which VCL. Reads everything and reports all problems before any test runs. */
import { stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { usageError } from '../cli-error.js'
import type { TestFile } from '../../test-files/test-file.js'
import type { TestedVcl } from '../../vcl-tests/tested-vcl.js'
import { listTestFiles, TestReader } from './find-tests.js'
import { readFleetGroups, type FleetGroup } from './fleet-groups.js'
import { readLocalVcl } from './local-vcl.js'

interface PlannedTest {
  readonly path: string
  readonly test: TestFile
  readonly vcl: TestedVcl
}

interface Asked {
  readonly paths: readonly string[]
  /** Values of `--vcl` and `--group`. */
  readonly vcl: string | undefined
  readonly group: string | undefined
}

/** Throws CliError. Adds the files and folders on which the plan depends to `seen`. */
export async function planTests(asked: Asked, seen: Set<string>): Promise<readonly PlannedTest[]> {
  if (asked.vcl !== undefined && asked.group !== undefined)
    throw usageError('--vcl and --group both say which VCL is tested: give one of them')
  const chosen = await chooseTests(asked)
  if (chosen.length === 0)
    throw usageError(
      `${asked.paths.join(', ')} has no tests; they end in .test.yaml, .test.yml or .test.json`,
    )
  const reader = new TestReader()
  const read: { path: string; test: TestFile; group: FleetGroup | null }[] = []
  for (const { path, group } of chosen) {
    const test = await reader.read(path)
    if (test !== undefined) read.push({ path, test, group })
    for (const one of [path, ...(group === null ? [] : [group.folder])]) seen.add(one)
  }
  reader.check()
  const vcls = new LocalVcls(seen)
  const planned: PlannedTest[] = []
  for (const { path, test, group } of read)
    planned.push({
      path,
      test,
      vcl: group?.flatten() ?? (await vcls.read(asked.vcl ?? requireOwn(path, test))),
    })
  return planned
}

function requireOwn(path: string, { vcl }: TestFile): string {
  if (vcl === null) throw usageError(describeUnknown(path))
  return join(dirname(path), vcl)
}

function describeUnknown(path: string): string {
  return `${path} does not say which VCL it tests: add vcl: with a path from there, or give --vcl or --group`
}

interface ChosenTest {
  readonly path: string
  /** Null: the test does not belong to a group. */
  readonly group: FleetGroup | null
}

async function chooseTests({ paths, vcl, group }: Asked): Promise<readonly ChosenTest[]> {
  if (group !== undefined) return chooseForGroup(paths, group)
  const files = await listTestFiles(paths)
  const groups = vcl === undefined ? await listGroups(paths) : []
  const ofGroups = groups.flatMap((one) => one.tests.map((path) => ({ path, group: one })))
  const named = new Set(ofGroups.map(({ path }) => normalize(path)))
  const others = files.filter((path) => !named.has(normalize(path)))
  return [...ofGroups, ...others.map((path) => ({ path, group: null }))]
}

/** Uses the given files, else the tests that the group names, else all tests of the folder. */
async function chooseForGroup(
  paths: readonly string[],
  name: string,
): Promise<readonly ChosenTest[]> {
  const folders: string[] = []
  for (const path of paths) if (await isFolder(path)) folders.push(path)
  const [folder = '.'] = folders
  const groups = await readFleetGroups(folder)
  const group = groups.find((one) => one.name === name)
  if (group === undefined) {
    const names = groups.map((one) => one.name).join(', ') || 'none'
    throw usageError(`--group: ${folder} has no vclgroup ${JSON.stringify(name)}; it has ${names}`)
  }
  const given = paths.filter((path) => !folders.includes(path))
  const files =
    given.length > 0 ? given : group.tests.length > 0 ? group.tests : await listTestFiles([folder])
  return files.map((path) => ({ path, group }))
}

/** Groups of those folders whose `apply` documents name tests. */
async function listGroups(paths: readonly string[]): Promise<readonly FleetGroup[]> {
  const groups: FleetGroup[] = []
  for (const path of paths)
    if (await isFolder(path)) groups.push(...(await readFleetGroups(path, { onlyIfTested: true })))
  return groups
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}

/** Reads each VCL once, even if several tests use it. */
class LocalVcls {
  readonly #known = new Map<string, TestedVcl>()
  readonly #seen: Set<string>

  constructor(seen: Set<string>) {
    this.#seen = seen
  }

  async read(path: string): Promise<TestedVcl> {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const { vcl, files } = await readLocalVcl(path)
    for (const file of files) this.#seen.add(file)
    this.#known.set(path, vcl)
    return vcl
  }
}
