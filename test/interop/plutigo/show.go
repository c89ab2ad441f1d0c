package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blinklabs-io/plutigo/data"
	"github.com/blinklabs-io/plutigo/syn"
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// A term in one form: variables by index, constants written in one way.
func showTerm(term syn.Term[syn.DeBruijn]) string {
	switch t := term.(type) {
	case *syn.Var[syn.DeBruijn]:
		return fmt.Sprint(int(t.Name))
	case *syn.Delay[syn.DeBruijn]:
		return "(delay " + showTerm(t.Term) + ")"
	case *syn.Force[syn.DeBruijn]:
		return "(force " + showTerm(t.Term) + ")"
	case *syn.Lambda[syn.DeBruijn]:
		return "(lam " + showTerm(t.Body) + ")"
	case *syn.Apply[syn.DeBruijn]:
		return "[" + showTerm(t.Function) + " " + showTerm(t.Argument) + "]"
	case *syn.Builtin:
		return "(builtin " + t.String() + ")"
	case *syn.Constr[syn.DeBruijn]:
		return fmt.Sprintf("(constr %d%s)", t.Tag, several(t.Fields))
	case *syn.Case[syn.DeBruijn]:
		return "(case " + showTerm(t.Constr) + several(t.Branches) + ")"
	case *syn.Error:
		return "(error)"
	case *syn.Constant:
		return "(con " + showType(t.Con.Typ()) + " " + showConstant(t.Con) + ")"
	default:
		panic(fmt.Sprintf("a term of type %T", term))
	}
}

func several(terms []syn.Term[syn.DeBruijn]) string {
	var out strings.Builder
	for _, term := range terms {
		out.WriteString(" " + showTerm(term))
	}
	return out.String()
}

func showType(typ syn.Typ) string {
	switch t := typ.(type) {
	case *syn.TInteger:
		return "integer"
	case *syn.TByteString:
		return "bytestring"
	case *syn.TString:
		return "string"
	case *syn.TUnit:
		return "unit"
	case *syn.TBool:
		return "bool"
	case *syn.TData:
		return "data"
	case *syn.TBls12_381G1Element:
		return "bls12_381_G1_element"
	case *syn.TBls12_381G2Element:
		return "bls12_381_G2_element"
	case *syn.TBls12_381MlResult:
		return "bls12_381_mlresult"
	case *syn.TValue:
		return "value"
	case *syn.TList:
		return "(list " + showType(t.Typ) + ")"
	case *syn.TPair:
		return "(pair " + showType(t.First) + " " + showType(t.Second) + ")"
	default:
		panic(fmt.Sprintf("a type %T", typ))
	}
}

func showConstant(constant syn.IConstant) string {
	switch c := constant.(type) {
	case *syn.Integer:
		return c.Inner.String()
	case *syn.ByteString:
		return "#" + hex.EncodeToString(c.Inner)
	case *syn.String:
		return quoted(c.Inner)
	case *syn.Unit:
		return "null"
	case *syn.Bool:
		return fmt.Sprint(c.Inner)
	case *syn.Data:
		return showData(c.Inner)
	case *syn.ProtoList:
		return "[" + joined(c.List, showConstant) + "]"
	case *syn.ProtoPair:
		return "(" + showConstant(c.First) + ", " + showConstant(c.Second) + ")"
	case *syn.Bls12_381G1Element:
		var point bls.G1Affine
		form := point.FromJacobian(c.Inner).Bytes()
		return "0x" + hex.EncodeToString(form[:])
	case *syn.Bls12_381G2Element:
		var point bls.G2Affine
		form := point.FromJacobian(c.Inner).Bytes()
		return "0x" + hex.EncodeToString(form[:])
	case *syn.Bls12_381MlResult:
		return "_"
	default:
		panic(fmt.Sprintf("a constant of type %T", constant))
	}
}

func quoted(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n")
}

func joined[E any](elements []E, show func(E) string) string {
	shown := make([]string, len(elements))
	for i, element := range elements {
		shown[i] = show(element)
	}
	return strings.Join(shown, ", ")
}

func showData(of data.PlutusData) string {
	switch d := of.(type) {
	case *data.Integer:
		return "I " + d.Inner.String()
	case *data.ByteString:
		return "B #" + hex.EncodeToString(d.Inner)
	case *data.List:
		return "List [" + joined(d.Items, showData) + "]"
	case *data.Map:
		return "Map [" + joined(d.Pairs, func(pair [2]data.PlutusData) string {
			return "(" + showData(pair[0]) + ", " + showData(pair[1]) + ")"
		}) + "]"
	case *data.Constr:
		return fmt.Sprintf("Constr %s [%s]", d.Tag, joined(d.Fields, showData))
	default:
		panic(fmt.Sprintf("data of type %T", of))
	}
}
