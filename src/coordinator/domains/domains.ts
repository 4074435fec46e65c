/** Domains: the names that groups answer for. What is deployed was pinned by name, so a deployed one keeps its own. */
import { domainToASCII } from 'node:url'
import { parseDomainName } from '../../resources/domain-name.js'
import { domain } from '../../resources/domain.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { chooseOwner, deleteUnused, usersNamed, withUniqueName } from '../api/find-references.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import type { StateService } from '../service.js'
import { readUsingGroups } from '../fleet/using-groups.js'
import { deleteRow, updateRow } from '../store/write-rows.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import {
  domainReading,
  insertDomain,
  readGroupsDeployedWith,
  type DomainRecord,
} from './domain-queries.js'

export async function createDomain(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof domain.fields>,
): Promise<DomainRecord> {
  const { store } = service
  const fields = mergeFields(wanted)
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'domain')
  const id = await withUniqueName(fields.fqdn, 'domain', () =>
    store.transaction((queries) => insertDomain(queries, owner, fields, service.now())),
  )
  return domainReading.readAgain(service, actor, id)
}

/** Throws 'conflict' for another name while a group is deployed with it. */
export async function updateDomain(
  service: StateService,
  actor: Actor,
  before: DomainRecord,
  change: UpdateBody<typeof domain.fields>,
): Promise<DomainRecord> {
  const fields = mergeFields(change, before)
  if (isSame(fields, before)) return before
  await withUniqueName(fields.fqdn, 'domain', () =>
    service.store.decide(async (queries) => {
      if (fields.fqdn !== before.fqdn) refuseDeployed(await readGroupsDeployedWith(queries, before))
      const updatedAt = service.now()
      await updateRow(queries, 'domains', before.id, { ...fields, updatedAt })
    }),
  )
  return domainReading.readAgain(service, actor, before.id)
}

function mergeFields(body: UpdateBody<typeof domain.fields>, before?: DomainRecord) {
  const fields = mergeWritten(domain, body, before)
  return { ...fields, fqdn: parseDomainName(fields.fqdn, domainToASCII) }
}

const usedBy = ['vclGroupDomains.domainId', 'stageUses.domainId'] as const

/** Throws 'conflict' while a group has it, or is still deployed with it. */
export async function deleteDomain(service: StateService, found: DomainRecord): Promise<void> {
  await deleteUnused(
    'VCL group',
    'domain',
    () => readUsingGroups(service.store.queries, usedBy, found.id, usersNamed),
    () =>
      service.store.decide(async (queries) => {
        refuseDeployed(await readGroupsDeployedWith(queries, found))
        await deleteRow(queries, 'domains', found.id)
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
