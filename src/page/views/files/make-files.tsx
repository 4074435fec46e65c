/** The ways to further files: a new one, and those of this machine. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { FleetFile } from '../../api/file.js'
import { Button } from '../../parts/button.js'
import { NewButton } from '../../parts/new-button.js'
import { NewFile } from './new-file.js'
import { Upload } from './upload.js'

export interface MakeFilesProps {
  /** Whose names are taken; null: not read yet. */
  readonly known: readonly FleetFile[] | null
  readonly onMade: () => void
}

export function MakeFiles({ known, onMade }: MakeFilesProps) {
  const [, go] = useLocation()
  const isMaking = useSignal(false)
  const chosen = useSignal<readonly File[]>([])
  const begin = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <UploadButton
        onChoose={(files) => {
          chosen.value = files
        }}
      />
      <NewButton noun="file" onPress={begin} />
      {isMaking.value && (
        <NewFile
          onClose={() => {
            isMaking.value = false
          }}
          onMade={(id) => {
            go(`/files/${id}`)
          }}
        />
      )}
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

function UploadButton({ onChoose }: { readonly onChoose: (files: readonly File[]) => void }) {
  const place = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={place}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          onChoose([...(event.currentTarget.files ?? [])])
          // The same ones again are a choice too.
          event.currentTarget.value = ''
        }}
      />
      <Button onClick={() => place.current?.click()}>Upload…</Button>
    </>
  )
}
