/** The column of a table whose rows are about caches: the name, which leads to the cache for those who may see it. */
import { Link } from 'wouter-preact'
import type { Reference } from '../../resources/resource.js'
import { mayRead } from '../session/rights.js'
import type { Column } from './table.js'

export function cacheColumn<T>(cacheOf: (row: T) => Reference): Column<T> {
  return {
    title: 'Cache',
    show: (row) => {
      const { id, name } = cacheOf(row)
      if (!mayRead('agent')) return name
      return (
        <Link href={`/caches/${id}`} class="cache-link">
          {name}
        </Link>
      )
    },
    sortBy: (row) => cacheOf(row).name,
  }
}
