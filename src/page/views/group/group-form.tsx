/** Creates or changes a group without deploying it. */
import { useSignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { Deployment } from '../../../resources/deployment.js'
import type { Domain } from '../../../resources/domain.js'
import type { Group } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'
import type { CallError, Outcome } from '../../api/http.js'
import { useList } from '../../api/list.js'
import { useObject } from '../../api/object.js'
import { Dialog } from '../../parts/dialog.js'
import { CheckField, SelectField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import { filterOwned } from '../../parts/filter-owned.js'
import { mayRead, readWho } from '../../session/rights.js'
import { ProposedIncludes } from './proposed-includes.js'
import { listPolicyNames, PolicyInputs } from './rollout/policy-inputs.js'
import { usePolicyForm } from './rollout/use-policy-form.js'
import { readGroupFields, toGroupBody, type Choosable, type GroupFields } from './group-fields.js'

export interface GroupFormProps {
  /** The group when the form was opened, to avoid overwriting changes saved by others since; null: a new group. */
  readonly before: { readonly group: Group; readonly etag: string | null } | null
  readonly onSaved: (group: Group, etag: string | null) => void
  readonly onClose: () => void
}

export function GroupForm({ before, onSaved, onClose }: GroupFormProps) {
  const was = before?.group ?? null
  const mutation = useMutation()
  const owner = findOwner(was)
  const isDeployed = before?.group.deployed ?? false
  const fields = useGroupFields(was)
  const save = async (): Promise<Outcome<Group>> => {
    if (mayRead('file') && fields.main.peek().length === 0) return { ok: false, error: noMain }
    const body = toGroupBody(fields.read(), listChoosable())
    return was
      ? call<Group>('PUT', `/vclgroups/${was.id}`, { body, ifMatch: before?.etag ?? null })
      : call<Group>('POST', '/vclgroups', { body })
  }
  return (
    <Dialog title={was ? 'Edit group' : 'New group'} onClose={onClose} isWide>
      <Form
        mutation={mutation}
        verb={was ? 'Save' : 'Create'}
        names={['name', 'releases', mainName, ...listPolicyNames(fields.policy)]}
        onSubmit={() => void mutation.run(save, onSaved)}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          name="name"
          value={fields.name}
          error={mutation.error}
          autoFocus
          required
        />
        <div class="group-form">
          {mayRead('file') && <FileFields owner={owner} error={mutation.error} {...fields} />}
          {mayRead('deployment') && <DeploymentField owner={owner} value={fields.deployments} />}
          {mayRead('domain') && <DomainField owner={owner} value={fields.domains} />}
        </div>
        <TextField
          label="Releases"
          name="releases"
          value={fields.releases}
          error={mutation.error}
          hint="Cache releases that may have it, such as 7 vinyl-9; empty: any"
        />
        <CheckField
          label="Keep the old VCL if a deploy fails"
          hint="Otherwise the group is removed from that cache"
          value={fields.keepOnFailure}
        />
        <CheckField
          label="Require tests"
          hint="No deploy where no cache can run them; otherwise that is a warning"
          value={fields.requireTests}
        />
        <CheckField
          label="Deploy in waves"
          hint="Each is watched, and undone if a gate fails; otherwise all caches switch at once"
          value={fields.isRolledOut}
        />
        {fields.isRolledOut.value && (
          <PolicyInputs form={fields.policy} error={mutation.error} owner={owner} />
        )}
        {isDeployed && <p class="quiet">Caches do not change until the next deploy.</p>}
      </Form>
    </Dialog>
  )
}

const mainName = 'Main VCL'
const noMain: CallError = {
  status: 0,
  errorKey: '',
  traceId: '',
  retryAfterSeconds: null,
  errorMsg: `${mainName} is required: choose the file that caches compile`,
}

/** A new group is owned by its creator's organization. */
function findOwner(group: Group | null): Owner {
  return group ? group.organization : (readWho()?.organization ?? null)
}

export function listChoosable(): Choosable {
  return { file: mayRead('file'), domain: mayRead('domain'), deployment: mayRead('deployment') }
}

function useGroupFields(was: Group | null) {
  const start = readGroupFields(was)
  const name = useSignal(start.name)
  const main = useSignal(start.main)
  const version = useSignal(start.version)
  const includes = useSignal(start.includes)
  const domains = useSignal(start.domains)
  const deployments = useSignal(start.deployments)
  const keepOnFailure = useSignal(start.keepOnFailure)
  const releases = useSignal(start.releases)
  const tests = useSignal(start.tests)
  const requireTests = useSignal(start.requireTests)
  const isRolledOut = useSignal(start.rollout !== null)
  const policy = usePolicyForm(start.rollout)
  const read = (): GroupFields => ({
    name: name.value,
    main: main.value,
    version: version.value,
    includes: includes.value,
    domains: domains.value,
    deployments: deployments.value,
    keepOnFailure: keepOnFailure.value,
    releases: releases.value,
    tests: tests.value,
    requireTests: requireTests.value,
    rollout: isRolledOut.value ? policy.read() : null,
  })
  return {
    name,
    main,
    version,
    includes,
    tests,
    requireTests,
    domains,
    deployments,
    keepOnFailure,
    releases,
    isRolledOut,
    policy,
    read,
  }
}

type Owner = Group['organization']
type Ids = Signal<readonly number[]>

interface FileFieldsProps {
  readonly owner: Owner
  readonly main: Ids
  readonly version: Signal<string>
  readonly includes: Ids
  readonly tests: Ids
  readonly error: CallError | null
}

function FileFields({ owner, main, version, includes, tests, error }: FileFieldsProps) {
  const { rows, phase } = useList<FleetFile>('/files', {
    query: { fileType: '1,2,4', sort: 'name' },
  })
  const files = filterOwned(rows, owner)
  const isNone = phase === 'ready' && !files.some(({ fileType }) => fileType === 1)
  const chosen = files.find(({ id }) => id === main.value[0])
  return (
    <>
      <div class="stack">
        <PickField
          label={mainName}
          name={mainName}
          error={error}
          options={files.filter(({ id, fileType }) => fileType === 1 || main.value.includes(id))}
          value={main}
          isSingle
          hint={isNone ? 'Create a VCL file first' : 'The file that caches compile'}
        />
        {main.value[0] !== undefined && (
          <VersionField key={main.value[0]} file={main.value[0]} value={version} />
        )}
      </div>
      <div class="stack">
        <PickField
          label="Includes"
          options={files.filter(
            ({ id, fileType }) => fileType === 2 || includes.value.includes(id),
          )}
          value={includes}
          hint="Files that the main VCL includes by their names"
        />
        {chosen && <ProposedIncludes main={chosen} version={version.value} includes={includes} />}
      </div>
      <PickField
        label="Tests"
        options={files.filter(({ id, fileType }) => fileType === 4 || tests.value.includes(id))}
        value={tests}
        hint="Test files, which every deploy runs first"
      />
    </>
  )
}

function VersionField({
  file,
  value,
}: {
  readonly file: number
  readonly value: FileFieldsProps['version']
}) {
  // Versions belong to one file: reset when another is chosen.
  useEffect(
    () => () => {
      value.value = ''
    },
    [],
  )
  const versions = useObject<readonly { readonly version: number }[]>(`/files/${file}/versions`)
  const known = (versions.value ?? []).map(({ version }) => version).toReversed()
  return (
    <SelectField
      label="Version"
      value={value}
      options={[
        { value: '', title: 'newest at each deploy' },
        ...known.map((one) => ({ value: String(one), title: `always ${one}` })),
      ]}
    />
  )
}

function DeploymentField({ owner, value }: { readonly owner: Owner; readonly value: Ids }) {
  const { rows, phase } = useList<Deployment>('/deployments', { query: { sort: 'name' } })
  const options = filterOwned(rows, owner)
  const isNone = phase === 'ready' && options.length === 0
  return (
    <PickField
      label="Deployments"
      options={options}
      value={value}
      hint={isNone ? 'Create a deployment first' : 'Which caches it may use, and how many'}
    />
  )
}

function DomainField({ owner, value }: { readonly owner: Owner; readonly value: Ids }) {
  const { rows } = useList<Domain>('/domains', { query: { sort: 'fqdn' } })
  return (
    <PickField
      label="Domains"
      options={filterOwned(rows, owner).map(({ id, fqdn }) => ({ id, name: fqdn }))}
      value={value}
      hint="None (root group): its VCL is the whole VCL of its caches"
    />
  )
}
