/** Form fields for chain and key, pasted or from files. The key is masked, and the page discards it once sent. */
import { batch, useSignal, useSignalEffect, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { refuse, type CallError } from '../../api/http.js'
import { Button } from '../../parts/button.js'
import { TextField } from '../../parts/field.js'
import { moveKey } from './move-key.js'

interface Pem {
  readonly chain: Signal<string>
  readonly key: Signal<string>
  /** Returns them for the body of one call and discards the key. */
  readonly take: () => { readonly chain: string; readonly key: string }
}

/** The API accepts 64 KiB of each; a file may contain both. */
const maxBytes = 128 * 1024

export function usePem(): Pem {
  const chain = useSignal('')
  const key = useSignal('')
  useSignalEffect(() => {
    const moved = moveKey(chain.value)
    if (!moved) return
    batch(() => {
      chain.value = moved.chain
      key.value = moved.key
    })
  })
  const take = () => {
    const taken = { chain: chain.peek(), key: key.peek() }
    key.value = ''
    return taken
  }
  return { chain, key, take }
}

interface PemFieldsProps {
  readonly pem: Pem
  readonly error: CallError | null
}

export function PemFields({ pem, error }: PemFieldsProps) {
  return (
    <>
      <PemField
        label="Chain"
        name="chain"
        value={pem.chain}
        error={error}
        hint="PEM: the certificate, then those that issued it. A file may have the key, too."
      />
      <PemField
        label="Key"
        name="key"
        value={pem.key}
        error={error}
        isSecret
        hint={
          error
            ? 'It is not kept here: give it again'
            : 'PEM: the private key of the certificate. It is stored sealed and never shown again.'
        }
      />
    </>
  )
}

interface PemFieldProps {
  readonly label: string
  /** The field's name in the API. */
  readonly name: string
  readonly value: Signal<string>
  readonly error: CallError | null
  readonly hint: string
  readonly isSecret?: boolean
}

function PemField({ label, name, value, error, hint, isSecret = false }: PemFieldProps) {
  const place = useRef<HTMLInputElement>(null)
  const wrong = useSignal<CallError | null>(null)
  const read = async (file: File): Promise<void> => {
    const isShort = file.size <= maxBytes
    const text = isShort ? await file.text().catch(() => null) : null
    const why = isShort ? 'it cannot be read' : `${file.size} bytes; at most ${maxBytes} are taken`
    wrong.value = text === null ? refuse(`${name}: ${file.name}: ${why}`) : null
    if (text !== null) value.value = text
  }
  return (
    <div class="pem-field">
      <TextField
        label={label}
        name={name}
        value={value}
        error={error}
        advice={wrong.value}
        hint={hint}
        lines={3}
        isSecret={isSecret}
        required
      />
      <input
        ref={place}
        type="file"
        hidden
        aria-label={`File of the ${name}`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          if (file) void read(file) // never rejects
          // Lets the user choose the same file again.
          currentTarget.value = ''
        }}
      />
      <Button onClick={() => place.current?.click()}>{label} from a file…</Button>
    </div>
  )
}
