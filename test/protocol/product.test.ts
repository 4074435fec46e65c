/** Cache products, by their names. */
import t from 'tap'
import { findProduct, findProductOfDaemon, nameProduct, products } from '../../protocol/product.js'

void t.test('each product is found by its names and by its program', (t) => {
  for (const product of products) {
    t.equal(findProduct(product.name), product)
    t.equal(findProduct(product.versionName), product)
    t.equal(findProductOfDaemon(product.daemon), product)
    t.equal(nameProduct(product.versionName), product.name)
  }
  t.end()
})

void t.test('an unknown product keeps its own name', (t) => {
  t.equal(findProduct('squid'), null)
  t.equal(findProductOfDaemon('squid'), null)
  t.equal(nameProduct('squid'), 'squid')
  t.equal(nameProduct(null), '')
  t.end()
})
