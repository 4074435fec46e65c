/** A new file, with a text to begin from. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { WholeFile } from '../../api/file.js'
import { Dialog } from '../../parts/dialog.js'
import { SelectField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'

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
}

export interface NewFileProps {
  readonly onClose: () => void
  readonly onMade: (id: number) => void
}

export function NewFile({ onClose, onMade }: NewFileProps) {
  const deed = useDeed()
  const name = useSignal('')
  const type = useSignal('1')
  const submit = (): void => {
    const source = beginnings[type.value] ?? ''
    const body = { name: name.value, fileType: Number(type.value), source }
    void deed.run(
      () => call<WholeFile>('POST', '/files', { body }),
      ({ id }) => {
        onMade(id)
      },
    )
  }
  return (
    <Dialog title="New file" onClose={onClose}>
      <Form deed={deed} verb="Make" names={['name']} onSubmit={submit} onCancel={onClose}>
        <TextField
          label="Name"
          name="name"
          value={name}
          error={deed.error}
          hint="What other files include it by: shop.vcl"
          required
          autoFocus
        />
        <SelectField
          label="Type"
          value={type}
          options={[
            { value: '1', title: 'Main: the VCL of a group' },
            { value: '2', title: 'Include: part of others' },
          ]}
        />
      </Form>
    </Dialog>
  )
}
