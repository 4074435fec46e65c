/** Objects in memory that follow the API's rules, for plans of `apply`; and arbitrary folders of documents. */
import fc from 'fast-check'
import {
  keyOf,
  referencesOf,
  type ApplyFields,
  type ApplyKind,
  type Pins,
  type PresentObject,
  type WantedObject,
} from '../../src/cli/apply/apply-objects.js'
import type { ApplyStep } from '../../src/cli/apply/apply-plan.js'

export type World = ReadonlyMap<string, PresentObject>

/** Executes one step as the API would: throws where it would refuse. */
export function applyStep(world: World, step: ApplyStep, set: string): World {
  const key = keyOf(step)
  const before = world.get(key)
  const next = new Map(world)
  switch (step.action) {
    case 'create':
      return next.set(key, makeObject(world, step, set))
    case 'update':
      return next.set(key, changeObject(world, step, set))
    case 'undeploy':
      return next.set(key, { ...requireThere(before, step.id), deployed: false, pins: undefined })
    case 'deploy': {
      const found = requireThere(before, step.id ?? before?.id ?? 0)
      return next.set(key, { ...found, deployed: true, pins: pin(world, found.fields) })
    }
    case 'delete':
      refuseUsed(world, requireThere(before, step.id))
      next.delete(key)
      return next
  }
}

type Writing<A> = ApplyStep & { readonly action: A }

function makeObject(world: World, step: Writing<'create'>, managedBy: string): PresentObject {
  const { kind, name, fields } = step
  if (world.has(keyOf(step))) throw new Error(`${kind} ${name} is taken`)
  requireReferred(world, step)
  const version = kind === 'file' ? { version: 1 } : {}
  const state = kind === 'vclgroup' ? { deployed: false } : {}
  const id = 1 + Math.max(0, ...[...world.values()].map((object) => object.id))
  return { kind, name, fields, id, managedBy, ...version, ...state }
}

function changeObject(world: World, step: Writing<'update'>, set: string): PresentObject {
  const found = requireThere(world.get(keyOf(step)), step.id)
  requireReferred(world, step)
  const isNew = found.version !== undefined && found.fields['sha'] !== step.fields['sha']
  const version = isNew ? { version: (found.version ?? 0) + 1 } : {}
  const managedBy = step.takes ? set : found.managedBy
  return { ...found, fields: step.fields, managedBy, ...version }
}

function requireThere(object: PresentObject | undefined, id: number): PresentObject {
  if (object?.id !== id) throw new Error(`${id} is not there`)
  return object
}

function requireReferred(world: World, object: { readonly fields: ApplyFields }): void {
  for (const reference of referencesOf(object))
    if (!world.has(keyOf(reference))) throw new Error(`no ${keyOf(reference)}`)
}

/** Referenced by an object, or pinned by a deploy. */
function refuseUsed(world: World, { kind, name, deployed, isSent }: PresentObject): void {
  if (deployed === true || isSent === true) throw new Error(`${name} is deployed or sent`)
  for (const user of world.values()) {
    const pinned: Readonly<Partial<Record<ApplyKind, readonly string[] | undefined>>> = {
      domain: user.pins?.domains,
      deployment: user.pins?.deployments,
    }
    const refers = referencesOf(user).some((one) => one.kind === kind && one.name === name)
    if (refers || pinned[kind]?.includes(name) === true)
      throw new Error(`${kind} ${name} is in use by ${user.name}`)
  }
}

function pin(world: World, fields: ApplyFields): Pins {
  const main = String(fields['mainVCL'])
  const files = new Map(
    [...namesOf(fields['includes']), main].map((name) => [
      name,
      world.get(keyOf({ kind: 'file', name }))?.version ?? 0,
    ]),
  )
  const version = fields['mainVersion']
  if (typeof version === 'number') files.set(main, version)
  const domains = namesOf(fields['domains'])
  return {
    mainVCL: main,
    files,
    domains,
    deployments: namesOf(fields['deployments']),
    releases: namesOf(fields['releases']),
    pending: false,
  }
}

function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

const someOf = (names: readonly string[]) => fc.subarray([...names])

/** A folder whose documents refer only to each other. */
export const folders: fc.Arbitrary<readonly WantedObject[]> = fc
  .record({
    tags: someOf(['t1', 't2', 't3']),
    files: someOf(['f1', 'f2', 'f3']),
    domains: someOf(['d1', 'd2', 'd3']),
  })
  .chain(({ tags, files, domains }) =>
    fc
      .tuple(
        fc.constant(tags.map((name) => toObject('tag', name, {}))),
        fc.tuple(...files.map((name) => fileOf(name))),
        fc.constant(domains.map((name) => toObject('domain', name, {}))),
        fc.tuple(
          ...(tags.length === 0 ? [] : ['p1', 'p2'].map((name) => deploymentOf(name, tags))),
        ),
      )
      .chain(([tagged, filed, named, placed]) => {
        const deployments = placed.map(({ name }) => name)
        const groups = files.length === 0 ? [] : ['g1', 'g2', 'g3']
        return fc
          .tuple(...groups.map((name) => groupOf(name, { files, domains, deployments })))
          .chain((grouped) =>
            fc.shuffledSubarray([...tagged, ...filed, ...named, ...placed, ...grouped], {
              minLength:
                tagged.length + filed.length + named.length + placed.length + grouped.length,
            }),
          )
      }),
  )

function toObject(kind: ApplyKind, name: string, fields: ApplyFields): WantedObject {
  return { kind, name, fields }
}

function fileOf(name: string): fc.Arbitrary<WantedObject> {
  return fc
    .record({ sha: fc.constantFrom('a', 'b'), fileType: fc.constantFrom(1, 2) })
    .map((fields) => toObject('file', name, fields))
}

function deploymentOf(name: string, tags: readonly string[]): fc.Arbitrary<WantedObject> {
  return fc
    .record({ min: fc.constantFrom(1, 2), tags: fc.subarray([...tags], { minLength: 1 }) })
    .map((fields) => toObject('deployment', name, fields))
}

function groupOf(
  name: string,
  from: Readonly<Record<'files' | 'domains' | 'deployments', readonly string[]>>,
): fc.Arbitrary<WantedObject> {
  return fc
    .record({
      mainVCL: fc.constantFrom(...from.files),
      mainVersion: fc.constantFrom(null, null, 1),
      includes: someOf(from.files),
      domains: someOf(from.domains),
      deployments: someOf(from.deployments),
      releases: fc.constantFrom(null, null, ['7', 'vinyl-9'], ['6.0']),
      deployed: fc.constantFrom(true, true, false, undefined),
    })
    .map(({ deployed, ...fields }) => ({ ...toObject('vclgroup', name, fields), deployed }))
}
