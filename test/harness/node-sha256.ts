import { createHash, createHmac } from 'node:crypto'

/** SHA-256 as the vendor's own signer wants it. */
export class NodeSha256 {
  #hash: { update(data: string | Uint8Array): unknown; digest(): Buffer }
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret as string | Uint8Array | undefined
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  }
  update(data: string | Uint8Array) {
    this.#hash.update(data)
  }
  async digest() {
    return new Uint8Array(this.#hash.digest())
  }
  reset() {}
}
