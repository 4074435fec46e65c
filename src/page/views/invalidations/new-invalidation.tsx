/** Form that clears caches: content, target, preview, and a confirmation before everything is removed. */
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
  findNoSite,
  readIds,
  coversEverything,
  readScope,
  toExpressions,
  type Draft,
  type InvalidationBody,
  type Scope,
  type TargetKind,
} from './compose-invalidation.js'
import { PreviewNote } from './preview-note.js'
import { firstKind, TargetFields } from './target-fields.js'
import { askPreview, usePreview, type Preview } from './use-preview.js'

export function View() {
  return (
    <>
      <ViewHead title="Clear cache" back={{ href: '/invalidations', title: 'Invalidations' }} />
      {mayWrite('invalidation') ? (
        <NewInvalidation />
      ) : (
        <Empty icon="invalidation" title="You may not create invalidations">
          <p>An administrator of your organization can allow it.</p>
        </Empty>
      )}
    </>
  )
}

function NewInvalidation() {
  const [, go] = useLocation()
  const [word, setScope] = useAddressField('type')
  const scope = readScope(word)
  const verb = scope === 'expression' ? 'Ban' : 'Clear cache'
  const inputs = useInputs()
  const draft = readDraft(scope, inputs)
  const body = composeBody(draft)
  const preview = usePreview(body)
  const mutation = useMutation()
  useLayoutEffect(mutation.forget, [JSON.stringify(body)])
  const name = scope === 'url' ? 'urls' : body?.expressions ? 'expressions' : 'expression'
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
        toast(`${scope === 'expression' ? 'Ban' : 'Order to clear'} sent.`)
        go(`/invalidations/${made.id}`)
      },
    )
  }
  const cancel = (): void => {
    go('/invalidations')
  }
  return (
    <div class="panel invalidation-new">
      <Choices label="What to clear" value={scope} onChoose={setScope} choices={scopeChoices} />
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
  // Preselects caches or a group chosen in another view.
  const agents = readIds(useAddressField('agents')[0])
  const groups = readIds(useAddressField('vclGroup')[0]).slice(0, 1)
  const isOfGroup = groups.length > 0 && mayRead('vclgroup')
  const isOfCaches = agents.length > 0 && mayRead('agent')
  return {
    text: useSignal(''),
    kind: useSignal<TargetKind>(isOfGroup ? 'vclGroup' : isOfCaches ? 'agents' : firstKind()),
    ids: useSignal<readonly number[]>(isOfGroup ? groups : agents),
    method: useSignal('PURGE'),
    headers: useSignal(''),
    ttl: useSignal('86400'),
  }
}

function readDraft(scope: Scope, inputs: Inputs): Draft {
  const { text, kind, ids, method, headers, ttl } = inputs
  return {
    scope,
    text: text.value,
    kind: kind.value,
    ids: ids.value,
    method: method.value,
    headers: headers.value,
    ttl: Number(ttl.value),
  }
}

interface ContentFieldsProps {
  /** The API's name for the text. */
  readonly name: string
  readonly draft: Draft
  readonly inputs: Inputs
  readonly preview: Preview
  /** The refusal. */
  readonly error: CallError | null
}

/** The content to remove: expressions, or URLs with their method and headers. */
function ContentFields({ name, draft, inputs, preview, error }: ContentFieldsProps) {
  const errors = { error, advice: preview.error }
  const wrong = error ?? (preview.isCurrent ? preview.error : null)
  const mark = wrong && findMark(draft, wrong.errorMsg)
  const main = { name, value: inputs.text, mark, ...errors, lines: 3, required: true } as const
  if (draft.scope === 'url') return <PurgeFields urls={main} {...inputs} errors={errors} />
  const { label, hint } = texts[draft.scope]
  return (
    <>
      <TextField key={draft.scope} {...main} label={label} hint={hint} autoFocus />
      <SiteNote draft={draft} />
    </>
  )
}

const texts = {
  prefix: {
    label: 'Paths',
    hint: 'One a line, with the site: everything below goes. www.example.com/img/',
  },
  site: { label: 'Sites', hint: 'One a line: all pages and files of it go. www.example.com' },
  expression: {
    label: 'Expressions',
    hint: 'One a line: field, operator, value, joined by &&. obj.http.x-url ~ "^/img/" && obj.status == 200',
  },
} as const

/** For a path or site: the expression that will be sent, or the invalid line. */
function SiteNote({ draft }: { readonly draft: Draft }) {
  if (draft.scope === 'expression') return null
  const wrong = findNoSite(draft)
  if (wrong !== null)
    return (
      <p class="field-wrong" role="alert">
        “{wrong}” is not an address. Write it as www.example.com or www.example.com/img/.
      </p>
    )
  const expressions = toExpressions(draft)
  if (expressions.length === 0) return null
  return (
    <details class="invalidation-more">
      <summary>As expressions</summary>
      <pre tabIndex={0}>{expressions.join('\n')}</pre>
    </details>
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

const scopeChoices: readonly { readonly value: Scope; readonly title: string }[] = [
  { value: 'url', title: 'URLs' },
  { value: 'prefix', title: 'Path' },
  { value: 'site', title: 'Site' },
  { value: 'expression', title: 'Expression' },
]

const ttls = [
  { value: '3600', title: '1 hour' },
  { value: '86400', title: '24 hours' },
  { value: '604800', title: '7 days' },
  { value: '2592000', title: '30 days' },
]

/** Null: not confirmed. Reads the preview again, because the one shown may predate the last keystroke. */
async function makeInvalidation(
  body: InvalidationBody,
  verb: string,
): Promise<Outcome<Invalidation | null>> {
  const preview = await askPreview(body)
  if (!preview.ok) return preview
  const { reached, warnings } = preview.value
  if (coversEverything(body, warnings)) {
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
