/** Makes or changes a group. Nothing is deployed by that. */
import { useSignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { Deployment } from '../../api/deployment.js'
import type { Domain } from '../../api/domain.js'
import type { Group, GroupFile } from '../../api/group.js'
import type { Outcome } from '../../api/http.js'
import { useList } from '../../api/list.js'
import { useObject } from '../../api/object.js'
import { Dialog } from '../../parts/dialog.js'
import { CheckField, SelectField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import { pickOwned } from '../../parts/pick-owned.js'
import { mayRead, readWho } from '../../session/rights.js'

export interface GroupFormProps {
  /** Null: a new one. */
  readonly before: { readonly group: Group; readonly etag: string | null } | null
  readonly onSaved: (group: Group) => void
  readonly onClose: () => void
}

/** What people change, as the API takes it. */
export function toGroupFields({ name, keepOnFailure, mainVCL, ...lists }: Group) {
  return {
    ...{ name, keepOnFailure },
    mainVCL: { id: mainVCL?.id, version: mainVCL?.version ?? null },
    includes: toReferences(lists.includes.map(({ id }) => id)),
    domains: toReferences(lists.domains.map(({ id }) => id)),
    deployments: toReferences(lists.deployments.map(({ id }) => id)),
  }
}

function toReferences(ids: readonly number[]): readonly { readonly id: number }[] {
  return ids.map((id) => ({ id }))
}

export function GroupForm({ before, onSaved, onClose }: GroupFormProps) {
  const was = before?.group
  const deed = useDeed()
  const owner = was ? was.organization : (readWho()?.organization ?? null)
  const name = useSignal(was?.name ?? '')
  const main = useSignal<readonly number[]>(was?.mainVCL ? [was.mainVCL.id] : [])
  const version = useSignal(String(was?.mainVCL?.version ?? ''))
  const includes = useSignal<readonly number[]>(was?.includes.map(({ id }) => id) ?? [])
  const domains = useSignal<readonly number[]>(was?.domains.map(({ id }) => id) ?? [])
  const deployments = useSignal<readonly number[]>(was?.deployments.map(({ id }) => id) ?? [])
  const keepOnFailure = useSignal(was?.keepOnFailure ?? true)

  /** What may not be read cannot be chosen, and stays as it is. */
  const save = (): Promise<Outcome<Group>> => {
    const body = {
      ...{ name: name.value, keepOnFailure: keepOnFailure.value },
      ...(mayRead('file') && {
        mainVCL: {
          id: main.value[0],
          version: version.value === '' ? null : Number(version.value),
        },
        includes: toReferences(includes.value),
      }),
      ...(mayRead('domain') && { domains: toReferences(domains.value) }),
      ...(mayRead('deployment') && { deployments: toReferences(deployments.value) }),
    }
    const ifMatch = before?.etag ?? null
    return was
      ? call<Group>('PUT', `/vclgroups/${was.id}`, { body, ifMatch })
      : call<Group>('POST', '/vclgroups', { body })
  }

  return (
    <Dialog title={was ? 'Edit the group' : 'New group'} onClose={onClose} isWide>
      <Form
        deed={deed}
        verb={was ? 'Save' : 'Make'}
        names={['name']}
        onSubmit={() => void deed.run(save, onSaved)}
        onCancel={onClose}
      >
        <TextField label="Name" name="name" value={name} error={deed.error} autoFocus required />
        <div class="group-form">
          {mayRead('file') && <FileFields {...{ owner, main, version, includes }} />}
          {mayRead('deployment') && <DeploymentField {...{ owner, value: deployments }} />}
          {mayRead('domain') && <DomainField {...{ owner, value: domains }} />}
        </div>
        <CheckField
          label="Keep the old VCL where a deploy fails"
          hint="otherwise such a cache drops the group"
          value={keepOnFailure}
        />
        {was?.deployed === true && (
          <p class="quiet">What is deployed stays as it is until the next deploy.</p>
        )}
      </Form>
    </Dialog>
  )
}

type Owner = Group['organization']
type Ids = Signal<readonly number[]>

interface FileFieldsProps {
  readonly owner: Owner
  readonly main: Ids
  readonly version: Signal<string>
  readonly includes: Ids
}

function FileFields({ owner, main, version, includes }: FileFieldsProps) {
  const { rows } = useList<GroupFile>('/files', { query: { fileType: '1,2', sort: 'name' } })
  const files = pickOwned(rows, owner)
  return (
    <>
      <div class="stack">
        <PickField
          label="Main VCL"
          options={files.filter(({ id, fileType }) => fileType === 1 || main.value.includes(id))}
          value={main}
          isSingle
          hint="What the caches compile"
        />
        {main.value[0] !== undefined && (
          <VersionField key={main.value[0]} file={main.value[0]} value={version} />
        )}
      </div>
      <PickField
        label="Includes"
        options={files.filter(({ id, fileType }) => fileType === 2 || includes.value.includes(id))}
        value={includes}
        hint="Files that the main VCL includes by their names"
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
  // Another file has other versions.
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
      label="Its version"
      value={value}
      options={[
        { value: '', title: 'the newest at each deploy' },
        ...known.map((one) => ({ value: String(one), title: `always ${one}` })),
      ]}
    />
  )
}

function DeploymentField({ owner, value }: { readonly owner: Owner; readonly value: Ids }) {
  const { rows } = useList<Deployment>('/deployments', { query: { sort: 'name' } })
  return (
    <PickField
      label="Deployments"
      options={pickOwned(rows, owner)}
      value={value}
      hint="Which caches it may use, and how many"
    />
  )
}

function DomainField({ owner, value }: { readonly owner: Owner; readonly value: Ids }) {
  const { rows } = useList<Domain>('/domains', { query: { sort: 'fqdn' } })
  return (
    <PickField
      label="Domains"
      options={pickOwned(rows, owner).map(({ id, fqdn }) => ({ id, name: fqdn }))}
      value={value}
      hint="None: its VCL is the whole VCL of its caches"
    />
  )
}
