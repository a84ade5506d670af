import { isJsonObject } from 'model-gateway/plugin'
import type { ToolCall } from './command-pack.ts'
import { type Field, textOf } from './tool-fields.ts'
import { identityWords, onServer } from './tool-identity.ts'
import { wordSet } from './word-lists.ts'

const serviceKeys = wordSet('service service_name')
const operationKeys = wordSet('action api_name command method operation operation_name')

/** A call with a service and operation of AWS, as its command line. */
export function cloudCommands(
  call: ToolCall,
  words: readonly string[],
  fields: readonly Field[],
): readonly (readonly string[])[] {
  if (!words.includes('aws') && !onServer(call, (word) => word === 'aws' || word === 'awslabs'))
    return none
  const service = textOf(fields, serviceKeys)
  const operation = textOf(fields, operationKeys)
  if (service === undefined || operation === undefined) return none
  // `DeleteBucket`, `delete_bucket`, and with its arguments `rb s3://b`.
  const [name = '', ...rest] = operation.trim().split(/\s+/)
  const parameters = fields.flatMap(({ key, value }) =>
    /^param(?:s|eters)$/.test(key) && isJsonObject(value) ? Object.entries(value) : [],
  )
  const options = parameters.flatMap(([option, value]) => [
    `--${identityWords(option).join('-')}`,
    ...(value === true ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]),
  ])
  return [['aws', service.toLowerCase(), identityWords(name).join('-'), ...rest, ...options]]
}

const none: readonly (readonly string[])[] = []
