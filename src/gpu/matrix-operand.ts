import matrixSource from '../../shaders/matrix.wgsl?raw';

/**
 * The shader text that binds a matrix operand and reads it four columns at a time (shaders/matrix.wgsl): `matrixOperand('dy', 2)` declares
 * `dy` at binding 2 and `fourOfDy`, for the constant `DY_VECTOR`.
 */
export function matrixOperand(name: string, binding: number): string {
  return matrixSource
    .replaceAll('{name}', name)
    .replaceAll('{Name}', name[0]!.toUpperCase() + name.slice(1))
    .replaceAll('{CONSTANT}', name.toUpperCase())
    .replaceAll('{binding}', String(binding));
}
