import { isJsonObject, type JsonObject } from 'model-gateway/plugin'

/** What belongs to this provider alone, under its key. */
export function providerMetadata(metadata: JsonObject): JsonObject {
  return { cloud_b_ml: metadata }
}

/** The members of the model's own reply that the caller asked Converse for, if there are any. */
export function additionalFields(from: JsonObject): JsonObject | undefined {
  const { additionalModelResponseFields: fields } = from
  return isJsonObject(fields) && Object.keys(fields).length > 0
    ? { additional_model_response_fields: fields }
    : undefined
}
