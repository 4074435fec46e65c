/** A new ban or purge: what it removes and where, whom it would reach, and one more question before everything goes. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { CallError, Outcome } from '../../api/http.js'
import type { Invalidation } from '../../../resources/invalidation.js'
import { Choices } from '../../parts/choices.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Empty } from '../../parts/empty.js'
import { SelectField, TextField, type TextFieldProps } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { isAbout } from '../../parts/is-about.js'
import { toast } from '../../parts/toasts.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import {
  composeBody,
  findMark,
  readIds,
  reachesEverything,
  type Draft,
  type InvalidationBody,
  type TargetKind,
} from './compose-invalidation.js'
import { PreviewNote } from './preview-note.js'
import { firstKind, TargetFields } from './target-fields.js'
import { askPreview, usePreview, type Preview } from './use-preview.js'

export function View() {
  if (!mayWrite('invalidation'))
    return <Empty icon="invalidation" title="You may not create invalidations" />
  return (
    <>
      <ViewHead
        title="New invalidation"
        back={{ href: '/invalidations', title: 'Invalidations' }}
      />
      <NewInvalidation />
    </>
  )
}

function NewInvalidation() {
  const [, go] = useLocation()
  const [typeField, setType] = useAddressField('type')
  const type = typeField === 'purge' ? 'purge' : 'ban'
  const verb = type === 'ban' ? 'Ban' : 'Purge'
  const inputs = useInputs()
  const draft = readDraft(type, inputs)
  const body = composeBody(draft)
  const preview = usePreview(body)
  const mutation = useMutation()
  useLayoutEffect(mutation.forget, [JSON.stringify(body)])
  const name = type === 'purge' ? 'urls' : body?.expressions ? 'expressions' : 'expression'
  const names = [name, 'method', 'headers']
  const submit = (): void => {
    if (!body) {
      toast('Choose a target first.')
      return
    }
    void mutation.run(
      () => makeInvalidation(body, verb),
      (made) => {
        if (!made) return
        toast(`${verb} sent.`)
        go(`/invalidations/${made.id}`)
      },
    )
  }
  const cancel = (): void => {
    go('/invalidations')
  }
  return (
    <div class="panel invalidation-new">
      <Choices label="Type" value={type} onChoose={setType} choices={types} />
      <Form mutation={mutation} verb={verb} names={names} onCancel={cancel} onSubmit={submit}>
        <ContentFields
          name={name}
          draft={draft}
          inputs={inputs}
          preview={preview}
          error={mutation.error}
        />
        <TargetFields kind={inputs.kind} ids={inputs.ids} />
        <SelectField label="Keep trying offline caches for" value={inputs.ttl} options={ttls} />
        <PreviewNote
          preview={preview}
          isShownAtField={names.some((one) => isAbout(preview.error, one))}
          isReady={body !== null}
        />
      </Form>
    </div>
  )
}

type Inputs = ReturnType<typeof useInputs>

function useInputs() {
  // Of caches that were chosen elsewhere.
  const agents = readIds(useAddressField('agents')[0])
  return {
    text: useSignal(''),
    kind: useSignal<TargetKind>(agents.length > 0 && mayRead('agent') ? 'agents' : firstKind()),
    ids: useSignal<readonly number[]>(agents),
    method: useSignal('PURGE'),
    headers: useSignal(''),
    ttl: useSignal('86400'),
  }
}

function readDraft(type: Draft['type'], inputs: Inputs): Draft {
  const { text, kind, ids, method, headers, ttl } = inputs
  return {
    type,
    text: text.value,
    kind: kind.value,
    ids: ids.value,
    method: method.value,
    headers: headers.value,
    ttl: Number(ttl.value),
  }
}

interface ContentFieldsProps {
  /** The API's name of the text. */
  readonly name: string
  readonly draft: Draft
  readonly inputs: Inputs
  readonly preview: Preview
  /** Why it was refused. */
  readonly error: CallError | null
}

/** What is removed: expressions, or URLs with their method and headers. */
function ContentFields({ name, draft, inputs, preview, error }: ContentFieldsProps) {
  const errors = { error, advice: preview.error }
  const wrong = error ?? (preview.isCurrent ? preview.error : null)
  const mark = wrong && findMark(draft, wrong.errorMsg)
  const main = { name, value: inputs.text, mark, ...errors, lines: 3, required: true } as const
  if (draft.type === 'purge') return <PurgeFields urls={main} {...inputs} errors={errors} />
  return (
    <TextField
      {...main}
      label="Expressions"
      autoFocus
      hint='One a line: field, operator, value, joined by &&. obj.http.x-url ~ "^/img/" && obj.status == 200'
    />
  )
}

interface PurgeFieldsProps extends Pick<Inputs, 'method' | 'headers'> {
  readonly urls: Omit<TextFieldProps, 'label'>
  readonly errors: Pick<TextFieldProps, 'error' | 'advice'>
}

function PurgeFields({ urls, method, headers, errors }: PurgeFieldsProps) {
  const more = useRef<HTMLDetailsElement>(null)
  const isWrong = ['method', 'headers'].some((name) => isAbout(errors.error ?? errors.advice, name))
  useLayoutEffect(() => {
    if (isWrong && more.current) more.current.open = true
  }, [isWrong])
  return (
    <>
      <TextField
        {...urls}
        label="URLs"
        autoFocus
        hint="One a line, whole: https://www.example.com/img/logo.png"
      />
      <details class="invalidation-more" ref={more}>
        <summary>Method and headers</summary>
        <div class="stack">
          <TextField value={method} {...errors} label="Method" name="method" />
          <TextField
            value={headers}
            {...errors}
            lines={2}
            label="Headers"
            name="headers"
            hint="One a line. Name: value"
          />
        </div>
      </details>
    </>
  )
}

const types = [
  { value: 'ban', title: 'Ban' },
  { value: 'purge', title: 'Purge' },
]

const ttls = [
  { value: '3600', title: '1 hour' },
  { value: '86400', title: '24 hours' },
  { value: '604800', title: '7 days' },
  { value: '2592000', title: '30 days' },
]

/** Null: not confirmed. The preview is read again: what is shown may be from before the last letter. */
async function makeInvalidation(
  body: InvalidationBody,
  verb: string,
): Promise<Outcome<Invalidation | null>> {
  const preview = await askPreview(body)
  if (!preview.ok) return preview
  const { reached, warnings } = preview.value
  if (reachesEverything(body, warnings)) {
    const isMeant = await confirmDestruction({
      title: 'all' in body.target ? `${verb} on all caches?` : `${verb} everything of the target?`,
      text: `${reached} ${reached === 1 ? 'cache' : 'caches'} will fetch again what is removed. This cannot be undone.`,
      verb,
      name: 'everything',
    })
    if (!isMeant) return { ok: true, value: null, etag: null, total: null }
  }
  return call<Invalidation>('POST', '/invalidations', { body })
}
