/** The objects of an organization: one of every kind, with the organization's mark in every text that can hold it. */
import type { Call, Json, Person, Tenants } from '../identity/people.js'
import { idOf, password, rows } from '../identity/people.js'
import { makeDomainCertificate } from '../../support/domain-certificates.js'
import { insertRollout } from '../../../src/coordinator/fleet/rollout-queries.js'
import { enrol } from '../controller/client.js'
import { makeRollout } from '../rollouts/made-rollout.js'

/** By the first segment of their paths. */
export const kindOfPath = {
  accounts: 'account',
  agents: 'agent',
  certificates: 'certificate',
  deployments: 'deployment',
  domains: 'domain',
  files: 'file',
  idps: 'idp',
  invalidations: 'invalidation',
  jointokens: 'jointoken',
  organizations: 'organization',
  permissions: 'permission',
  rollouts: 'rollout',
  sessions: 'session',
  tags: 'tag',
  users: 'user',
  vclgroups: 'vclgroup',
  webhooks: 'webhook',
} as const

export type Kind = (typeof kindOfPath)[keyof typeof kindOfPath]
export const kinds: readonly Kind[] = Object.values(kindOfPath)
/** An id of each kind. */
export type TenantObjects = Readonly<Record<Kind, number>>

export interface Owner {
  readonly mark: string
  readonly administrator: Person
  readonly organizationId: number
  readonly objects: TenantObjects
}

/** Every owner has this domain. */
const certifiedName = 'certified.example'
/** A valid one for each owner. */
export const certificateText = await makeDomainCertificate({ names: [certifiedName] })

/** Nothing listens at this address. */
export const webhookFields = { url: 'https://127.0.0.1:1/fleet', types: ['invalidation'] }

/** An id that no object has; the others are assigned one after the other from 1. */
export const nobodysId = 987_654

/** Creates an organization with its administrator; it owns nothing yet. */
export async function settleOwner(tenants: Tenants, mark: string): Promise<Omit<Owner, 'objects'>> {
  const organizationId = await tenants.makeOrganization(mark)
  const administrator = await tenants.addPerson(`${mark}-boss`, mark)
  return { mark, administrator, organizationId }
}

/** Kinds that the system administrator may own as well, then for no organization. */
export type Objects = Pick<
  TenantObjects,
  | ('certificate' | 'deployment' | 'domain' | 'file')
  | ('jointoken' | 'tag' | 'vclgroup' | 'webhook')
>

export async function makeObjects({ call }: Person, mark: string): Promise<Objects> {
  const make = maker(call)
  const name = `${mark} thing`
  const tag = await make('/tags', { name })
  const file = await make('/files', { name, source: `vcl 4.1; # ${mark}\n` })
  const deployment = await make('/deployments', { name, tags: [{ id: tag }] })
  const domain = await make('/domains', { fqdn: `${mark}.example` })
  const vclgroup = await make('/vclgroups', {
    name,
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  await make('/domains', { fqdn: certifiedName })
  const certificate = await make('/certificates', {
    name,
    ...certificateText,
    deployments: [{ id: deployment }],
  })
  const jointoken = await make('/jointokens', { label: name, tags: [{ id: tag }] })
  const webhook = await make('/webhooks', { name, ...webhookFields })
  return { certificate, deployment, domain, file, jointoken, tag, vclgroup, webhook }
}

export async function seedTenant(
  { controller }: Pick<Tenants, 'controller'>,
  owner: Omit<Owner, 'objects'>,
): Promise<TenantObjects> {
  const { mark, administrator, organizationId } = owner
  const make = maker(administrator.call)
  const options = { tags: [`${mark}-rack`], organizationId }
  const agent = await enrol(controller, `${mark}-cache`, options)
  const objects = await makeObjects(administrator, mark)
  const account = await make('/accounts', { name: `${mark}-guest`, password })
  const guests = await administrator.call(200, 'GET', `/users?account.name=${mark}-guest`)
  const permission = await make('/permissions', { account: { id: account }, type: 'tag' })
  const session = await make('/sessions', {
    label: `${mark} thing`,
    expire: Math.floor(controller.service.now() / 1000) + 3600,
    permissions: [{ type: 'tag', read: true }],
  })
  const target = { vclGroup: { id: objects.vclgroup } }
  const ban = { type: 'ban', expression: `obj.http.x-mark == ${mark}`, target }
  const invalidation = idOf(await administrator.call(202, 'POST', '/invalidations', ban))
  const rollout = await insertRollout(
    controller.service.store.queries,
    makeRollout({ groupId: objects.vclgroup, groupName: `${mark} thing`, organizationId }),
  )
  const idp = await make('/idps', { baseURL: `https://idp.${mark}.example`, clientID: mark })
  return {
    ...objects,
    account,
    agent,
    idp,
    invalidation,
    permission,
    rollout,
    session,
    organization: organizationId,
    user: idOf(rows(guests)[0]),
  }
}

function maker(call: Call): (path: string, body: Json) => Promise<number> {
  return async (path, body) => idOf(await call(201, 'POST', path, body))
}
