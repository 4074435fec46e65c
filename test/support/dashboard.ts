/** The parts of the Grafana dashboard that tests use. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './root.js'

interface DataSource {
  readonly type: string
  readonly uid: string
}

export interface Dashboard {
  readonly editable: boolean
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

interface Variable {
  readonly name: string
  readonly label: string
  readonly type: string
  readonly query: string
  readonly datasource?: DataSource
  readonly refresh?: number
  readonly multi?: boolean
  readonly allValue?: string
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly datasource: DataSource
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  readonly targets: readonly { readonly refId: string; readonly expr: string }[]
}

export async function readDashboard(): Promise<Dashboard> {
  const file = join(root, 'config', 'grafana-dashboard.json')
  return JSON.parse(await readFile(file, 'utf8')) as Dashboard // our own file
}
