package tpch

import "strings"

// vocabulary holds the value lists of the specification's section 4.2.2.13.
type vocabulary struct {
	colors                                []string
	typeSize, typeCoat, typeMetal         []string
	boxSize, boxKind                      []string
	segments, priorities, instructs, mode []string
	nouns, verbs, adjectives, adverbs     []string
	nations, regions                      []string
	nationRegions                         []int
}

func newVocabulary() *vocabulary {
	list := func(s string) []string { return strings.Split(s, ",") }
	return &vocabulary{
		colors: strings.Fields(`almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon
			chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey
			honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo
			navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate
			smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow`),
		typeSize:   list("STANDARD,SMALL,MEDIUM,LARGE,ECONOMY,PROMO"),
		typeCoat:   list("ANODIZED,BURNISHED,PLATED,POLISHED,BRUSHED"),
		typeMetal:  list("TIN,NICKEL,BRASS,STEEL,COPPER"),
		boxSize:    list("SM,LG,MED,JUMBO,WRAP"),
		boxKind:    list("CASE,BOX,BAG,JAR,PKG,PACK,CAN,DRUM"),
		segments:   list("AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD"),
		priorities: list("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW"),
		instructs:  list("DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN"),
		mode:       list("REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB"),
		nouns:      strings.Fields("accounts deposits packages requests instructions foxes pinto beans theodolites ideas platelets asymptotes dependencies excuses courts"),
		verbs:      strings.Fields("sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose solve engage"),
		adjectives: strings.Fields("special pending unusual express furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged"),
		adverbs:    strings.Fields("sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly ruthlessly"),
		nations: list("ALGERIA,ARGENTINA,BRAZIL,CANADA,EGYPT,ETHIOPIA,FRANCE,GERMANY,INDIA,INDONESIA,IRAN,IRAQ,JAPAN,JORDAN,KENYA,MOROCCO,MOZAMBIQUE," +
			"PERU,CHINA,ROMANIA,SAUDI ARABIA,VIETNAM,RUSSIA,UNITED KINGDOM,UNITED STATES"),
		nationRegions: []int{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1},
		regions:       list("AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST"),
	}
}
