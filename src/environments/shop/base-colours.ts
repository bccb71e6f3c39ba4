/**
 * Words that an option text is reduced to before it is compared: WebShop calls an option "sky blue" right where "blue"
 * was asked for. The order matters: the first word of this list that occurs in a text decides.
 */
// prettier-ignore
export const baseColours: readonly string[] = [
  'alabaster', 'apricot', 'aqua', 'ash', 'asphalt', 'azure', 'banana', 'beige', 'black', 'blue', 'blush',
  'bordeaux', 'bronze', 'brown', 'burgundy', 'camel', 'camo', 'caramel', 'champagne', 'charcoal', 'cheetah',
  'chestnut', 'chocolate', 'christmas', 'coffee', 'cognac', 'copper', 'coral', 'cranberry', 'cream', 'crystal',
  'dark', 'denim', 'eggplant', 'elephant', 'espresso', 'fuchsia', 'gold', 'granite', 'grape', 'graphite',
  'grass', 'gray', 'green', 'grey', 'heather', 'indigo', 'ivory', 'ivy', 'khaki', 'lavender', 'lemon',
  'leopard', 'light', 'lilac', 'lime', 'magenta', 'maroon', 'mauve', 'merlot', 'midnight', 'mint', 'mocha',
  'multicolor', 'mushroom', 'mustard', 'natural', 'navy', 'nude', 'olive', 'orange', 'peach', 'pewter', 'pink',
  'plum', 'purple', 'rainbow', 'red', 'rose', 'royal', 'rust', 'sand', 'sapphire', 'seashell', 'silver',
  'skull', 'slate', 'steel', 'stone', 'stonewash', 'sunflower', 'tan', 'taupe', 'teal', 'tiger', 'turquoise',
  'violet', 'walnut', 'wheat', 'white', 'wine', 'yellow',
];

/** The first base colour, in list order, that occurs anywhere in the text; the text itself where none does. */
export function reduceToBaseColour(text: string): string {
  return baseColours.find((colour) => text.includes(colour)) ?? text;
}
