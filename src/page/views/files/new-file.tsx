/** Creates a file with an initial text. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { WholeFile } from '../../../resources/file.js'
import { Dialog } from '../../parts/dialog.js'
import { SelectField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { Inputs, useInputForm } from '../../parts/input-form.js'

const beginnings: Readonly<Record<string, string>> = {
  1: `vcl 4.1;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_recv {
}
`,
  2: `sub vcl_recv {
}
`,
  4: `steps:
  - request: {url: /}
    expect: {status: 200}
`,
}

export function NewFile({ onClose }: { readonly onClose: () => void }) {
  const mutation = useMutation()
  const [, go] = useLocation()
  const form = useInputForm(inputs, {})
  const type = useSignal('1')
  const submit = (): void => {
    const source = beginnings[type.value] ?? ''
    const body = { ...form.read(), fileType: Number(type.value), source }
    void mutation.run(
      () => call<WholeFile>('POST', '/files', { body }),
      ({ id }) => {
        go(`/files/${id}`)
      },
    )
  }
  return (
    <Dialog title="New file" onClose={onClose}>
      <Form
        mutation={mutation}
        verb="Create"
        names={form.names}
        onSubmit={submit}
        onCancel={onClose}
      >
        <Inputs form={form} error={mutation.error} />
        <SelectField label="Type" value={type} options={types} />
      </Form>
    </Dialog>
  )
}

const inputs = {
  name: { label: 'Name', hint: 'What other files include it by: shop.vcl', required: true },
} as const

const types = [
  { value: '1', title: 'Main: the VCL of a group' },
  { value: '2', title: 'Include: part of others' },
  { value: '4', title: 'Test: requests, and what is expected' },
]
