/** Uploads local files as new files of the fleet, or as new versions of files with the same names. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { FleetFile, WholeFile } from '../../../resources/file.js'
import { refuse, type CallError } from '../../api/http.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { StateChip } from '../../parts/state-chip.js'
import { readUpload } from './read-upload.js'

type Result = { readonly words: string } | { readonly error: CallError } | null

/** Base64 of more bytes exceeds the API's limit of 10 MiB. */
const maxBytes = 7_500_000

interface UploadButtonProps {
  /** Existing files, whose names are taken; null: not read yet. */
  readonly known: readonly FleetFile[] | null
  readonly onMade: () => void
}

export function UploadButton({ known, onMade }: UploadButtonProps) {
  const place = useRef<HTMLInputElement>(null)
  const chosen = useSignal<readonly File[]>([])
  return (
    <>
      <input
        ref={place}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          chosen.value = [...(currentTarget.files ?? [])]
          // Lets the user choose the same files again.
          currentTarget.value = ''
        }}
      />
      <Button onClick={() => place.current?.click()}>Upload…</Button>
      {chosen.value.length > 0 && known && (
        <Upload
          files={chosen.value}
          known={known}
          onClose={() => {
            chosen.value = []
            onMade()
          }}
        />
      )}
    </>
  )
}

interface UploadProps {
  readonly files: readonly File[]
  readonly known: readonly FleetFile[]
  readonly onClose: () => void
}

function Upload({ files, known, onClose }: UploadProps) {
  const results = useSignal<readonly Result[]>(files.map(() => null))
  const isBusy = useSignal(false)
  const isDone = results.value.some((result) => result !== null) && !isBusy.value

  const send = async (): Promise<void> => {
    if (isBusy.peek()) return
    isBusy.value = true
    for (const [place, file] of files.entries()) {
      const result = await sendFile(file, known)
      results.value = results.value.with(place, result)
    }
    isBusy.value = false
  }
  useEffect(() => {
    // No file has one of these names: no decision is needed.
    if (!files.some((file) => findSame(file, known))) void send() // never rejects
  }, [])

  return (
    <Dialog title="Upload" onClose={onClose}>
      <ul class="plain-list upload">
        {files.map((file, place) => (
          <li key={place} class="upload-file">
            <span>{file.name}</span>
            <Outcome file={file} known={known} result={results.value[place] ?? null} />
          </li>
        ))}
      </ul>
      <div class="dialog-foot">
        {!isDone && <Button onClick={onClose}>Cancel</Button>}
        {isDone ? (
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        ) : (
          <Button kind="main" isBusy={isBusy.value} onClick={() => void send()}>
            Upload
          </Button>
        )}
      </div>
    </Dialog>
  )
}

function Outcome(props: {
  readonly file: File
  readonly known: readonly FleetFile[]
  readonly result: Result
}) {
  const { file, known, result } = props
  if (result === null) {
    const same = findSame(file, known)
    return <span class="quiet">{same ? 'a new version, if it differs' : 'a new file'}</span>
  }
  return 'error' in result ? (
    <ErrorNote error={result.error} />
  ) : (
    <StateChip state={result.words} tone="good" />
  )
}

function findSame(file: File, known: readonly FleetFile[]): FleetFile | undefined {
  return known.find(({ name }) => name === file.name)
}

async function sendFile(file: File, known: readonly FleetFile[]): Promise<Result> {
  if (file.size > maxBytes)
    return { error: refuse(`${file.name} has ${file.size} bytes; at most ${maxBytes} are taken`) }
  const read = await file.arrayBuffer().catch(() => null)
  if (!read) return { error: refuse(`${file.name} cannot be read`) }
  const body = readUpload(new Uint8Array(read))
  const same = findSame(file, known)
  const outcome = same
    ? await call<WholeFile>('PUT', `/files/${same.id}`, { body })
    : await call<WholeFile>('POST', '/files', { body: { ...body, name: file.name } })
  if (!outcome.ok) return { error: outcome.error }
  const { version } = outcome.value
  return { words: same?.version === version ? 'unchanged' : `version ${version}` }
}
