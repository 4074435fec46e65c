/** Domains: the names that groups answer for. What is deployed was pinned by name, so a deployed one keeps its own. */
import { domainToASCII } from 'node:url'
import { parseDomainName } from '../../resources/domain-name.js'
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import {
  deleteDomain as deleteDomainRow,
  findDomain as findDomainRow,
  fromRow,
  insertDomain,
  readGroupsDeployedWith,
  readGroupsWithDomain,
  selectDomains,
  updateDomain as updateDomainRow,
  type DomainRecord,
} from './domain-queries.js'
import { domainColumns } from '../fleet/list-columns.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import {
  chooseOwner,
  deleteUnused,
  mergeManagedBy,
  unmanaged,
  usersNamed,
  withUniqueName,
  type OwnerReference,
} from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'

export type { DomainRecord } from './domain-queries.js'

export const domainListFields = Object.keys(domainColumns)

export async function listDomains(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<DomainRecord>> {
  const list = parseListQuery(query, domainColumns, 'domain')
  const domains = selectDomains(service.store.queries, scopeOf(actor))
  return readLongList(domains, list, domainColumns, (rows) => rows.map(fromRow))
}

export async function findDomain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<DomainRecord | undefined> {
  return findDomainRow(service.store.queries, scopeOf(actor), id)
}

/** As a body has it: a key that is left out keeps its value. */
interface DomainChange {
  readonly fqdn?: string | undefined
  readonly managedBy?: string | null | undefined
}

interface NewDomain extends DomainChange {
  readonly fqdn: string
  readonly organization?: OwnerReference
}

export async function createDomain(
  service: StateService,
  actor: Actor,
  wanted: NewDomain,
): Promise<DomainRecord> {
  const { store } = service
  const fqdn = parseDomainName(wanted.fqdn, domainToASCII)
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'domain')
  const managedBy = mergeManagedBy(unmanaged, wanted.managedBy, 'domain')
  const id = await withUniqueName(fqdn, 'domain', () =>
    store.transaction((queries) =>
      insertDomain(queries, owner, { fqdn, managedBy }, service.now()),
    ),
  )
  return readAgain(service, actor, id)
}

/** Throws 'conflict' for another name while a group is deployed with it. */
export async function updateDomain(
  service: StateService,
  actor: Actor,
  domain: DomainRecord,
  change: DomainChange,
): Promise<DomainRecord> {
  const fqdn = change.fqdn === undefined ? domain.fqdn : parseDomainName(change.fqdn, domainToASCII)
  const managedBy = mergeManagedBy(domain, change.managedBy, 'domain')
  if (fqdn === domain.fqdn && managedBy === domain.managedBy) return domain
  await withUniqueName(fqdn, 'domain', () =>
    service.store.decide(async (queries) => {
      if (fqdn !== domain.fqdn) refuseDeployed(await readGroupsDeployedWith(queries, domain))
      await updateDomainRow(queries, domain.id, { fqdn, managedBy }, service.now())
    }),
  )
  return readAgain(service, actor, domain.id)
}

/** Throws 'conflict' while a group has it, or is still deployed with it. */
export async function deleteDomain(service: StateService, domain: DomainRecord): Promise<void> {
  await deleteUnused(
    'VCL group',
    'domain',
    () => readGroupsWithDomain(service.store.queries, domain.id, usersNamed),
    () =>
      service.store.decide(async (queries) => {
        refuseDeployed(await readGroupsDeployedWith(queries, domain))
        await deleteDomainRow(queries, domain.id)
      }),
  )
}

function refuseDeployed(groups: readonly string[]): void {
  if (groups.length === 0) return
  const names = groups
    .slice(0, usersNamed)
    .map((name) => JSON.stringify(name))
    .join(', ')
  throw new FleetError(
    'conflict',
    'domain',
    `it is deployed by VCL group ${names}; deploy without it, or undeploy, first`,
  )
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<DomainRecord> {
  const domain = await findDomain(service, actor, id)
  if (!domain) throw new FleetError('not-found', 'domain', `${id} was not found`)
  return domain
}
